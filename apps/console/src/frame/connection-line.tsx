import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { isLost } from '../api/errors';
import { useTexts } from '../i18n';
import { Button } from '../parts/controls';
import { Notice } from '../parts/states';

const retryMs = 5_000;
const versionCheckMs = 60_000;

/**
 * The scripts that the server's page names today; they differ from the page's own after an upgrade.
 */
const scriptsOf = (html: string): string =>
  [...html.matchAll(/src="([^"]+\.js)"/g)].map(([, src]) => src).join();

/**
 * One line above everything when the server cannot be reached, or has a new version of the console.
 */
export function ConnectionLine() {
  const { states } = useTexts();
  const client = useQueryClient();
  const [retryAtMs, setRetryAt] = useState<number | null>(null);
  const [isOutdated, setOutdated] = useState(false);
  const [, render] = useState(0);

  useEffect(
    () =>
      client.getQueryCache().subscribe(({ type, query }) => {
        if (type !== 'updated') return;
        const { error, fetchStatus } = query.state;
        if (fetchStatus === 'paused' || isLost(error))
          setRetryAt((at) => at ?? Date.now() + retryMs);
        else if (
          query.state.status === 'success' &&
          fetchStatus === 'idle' &&
          Date.now() - query.state.dataUpdatedAt < 1_000
        )
          setRetryAt(null);
      }),
    [client],
  );

  useEffect(() => {
    if (retryAtMs === null) return;
    const timer = setInterval(() => {
      if (Date.now() >= retryAtMs) {
        setRetryAt(Date.now() + retryMs);
        void client.refetchQueries({ type: 'active' });
      } else render((count) => count + 1);
    }, 1_000);
    return () => clearInterval(timer);
  }, [retryAtMs, client]);

  useEffect(() => {
    const own = scriptsOf(document.head.innerHTML);
    const timer = setInterval(async () => {
      const html = await fetch('/console/', { cache: 'no-cache' }).then(
        (response) => (response.ok ? response.text() : null),
        () => null,
      );
      if (html !== null && own !== '' && scriptsOf(html) !== own) setOutdated(true);
    }, versionCheckMs);
    return () => clearInterval(timer);
  }, []);

  return (
    <div role="status" className="empty:hidden">
      {retryAtMs !== null && (
        <Notice>{states.offline(Math.max(0, Math.ceil((retryAtMs - Date.now()) / 1_000)))}</Notice>
      )}
      {isOutdated && (
        <Notice>
          {states.updated}
          <Button onClick={() => location.reload()}>{states.reload}</Button>
        </Notice>
      )}
    </div>
  );
}
