import { Link, type LinkProps } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { tabLook } from './controls';

type View = readonly [text: ReactNode, to: LinkProps, isCurrent: boolean];

/** Links of one place to its views. */
export function Tabs({ label, views }: { label: string; views: readonly View[] }) {
  return (
    <nav aria-label={label} className="flex gap-1 overflow-x-auto">
      {views.map(([text, to, isCurrent], at) => (
        <Link
          key={at}
          {...to}
          replace
          aria-current={isCurrent ? 'page' : undefined}
          className={tabLook(isCurrent)}
        >
          {text}
        </Link>
      ))}
    </nav>
  );
}

/** Such links below the head of a screen. */
export function ViewTabs({
  label,
  views,
  children,
}: {
  label: string;
  views: readonly View[];
  /** What can be done with all that the view shows. */
  children?: ReactNode;
}) {
  return (
    <div className="flex shrink-0 flex-wrap items-center justify-between gap-x-4 gap-y-1 border-b border-n5 px-4 py-1">
      <Tabs label={label} views={views} />
      {children && (
        <span className="ml-auto flex flex-wrap justify-end gap-2 empty:hidden">{children}</span>
      )}
    </div>
  );
}
