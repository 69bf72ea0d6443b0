import { useEffect, useState } from 'react';
import { formatAgo, formatExact, useLanguage } from '../i18n';

/** The age of something, exact with its zone in the title. */
export function Ago({ at, className }: { at: number; className?: string }) {
  useLanguage();
  useTick(15_000);
  return (
    <time
      dateTime={new Date(at).toISOString()}
      title={formatExact(at)}
      className={`whitespace-nowrap ${className ?? ''}`}
    >
      {formatAgo(at)}
    </time>
  );
}

/** Renders again at this interval, while the page is visible. */
export function useTick(everyMs: number): void {
  const [, set] = useState(0);
  useEffect(() => {
    const timer = setInterval(
      () => document.visibilityState === 'visible' && set((count) => count + 1),
      everyMs,
    );
    return () => clearInterval(timer);
  }, [everyMs]);
}
