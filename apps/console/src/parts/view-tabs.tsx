import { Link, type LinkProps } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { Tabs, tabLook } from './controls';

/** Links to the views of a screen, below its head. */
export function ViewTabs({
  label,
  views,
  children,
}: {
  label: string;
  views: readonly (readonly [text: string, to: LinkProps, isCurrent: boolean])[];
  /** What can be done with all that the view shows. */
  children?: ReactNode;
}) {
  return (
    <div className="flex shrink-0 flex-wrap items-center justify-between gap-x-4 gap-y-1 border-b border-n5 px-4 py-1">
      <Tabs label={label}>
        {views.map(([text, to, isCurrent]) => (
          <Link key={text} {...to} replace aria-current={isCurrent ? 'page' : undefined} className={tabLook(isCurrent)}>
            {text}
          </Link>
        ))}
      </Tabs>
      {children && <span className="ml-auto flex flex-wrap justify-end gap-2 empty:hidden">{children}</span>}
    </div>
  );
}
