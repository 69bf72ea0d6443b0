import { Link, type LinkProps } from '@tanstack/react-router';
import { Tabs, tabLook } from './controls';

/** Links to the views of a screen, below its head. */
export function ViewTabs({
  label,
  views,
}: {
  label: string;
  views: readonly (readonly [text: string, to: LinkProps, isCurrent: boolean])[];
}) {
  return (
    <div className="shrink-0 border-b border-n5 px-4 py-1">
      <Tabs label={label}>
        {views.map(([text, to, isCurrent]) => (
          <Link key={text} {...to} replace aria-current={isCurrent ? 'page' : undefined} className={tabLook(isCurrent)}>
            {text}
          </Link>
        ))}
      </Tabs>
    </div>
  );
}
