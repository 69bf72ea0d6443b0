import { Link } from '@tanstack/react-router';
import { Tabs, tabLook } from './controls';

/** The lists of one screen, below its head. The first one has the address without a view. */
export function ViewTabs({
  label,
  view,
  views,
}: {
  label: string;
  view: string | undefined;
  views: readonly (readonly [view: string | undefined, text: string])[];
}) {
  return (
    <div className="border-b border-n5 px-4 py-1.5">
      <Tabs label={label}>
        {views.map(([one, text]) => (
          <Link
            key={text}
            to="."
            search={{ view: one }}
            className={tabLook(one === view)}
            aria-current={one === view ? 'page' : undefined}
          >
            {text}
          </Link>
        ))}
      </Tabs>
    </div>
  );
}
