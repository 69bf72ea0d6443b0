import { Link, type LinkProps, useNavigate } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { useKeys } from '../frame/keys';
import { useTexts } from '../i18n';
import { Button } from './controls';
import { Rows, type usePages } from './pages';
import { ScreenHead } from './screen-head';
import { Empty } from './states';

interface Column<Item> {
  title: string;
  widthRem: number;
  isNumber?: boolean;
  cell: (item: Item) => ReactNode;
}

export interface ListScreenProps<Item> {
  title: string;
  /** Content before the title, such as the way back. */
  before?: ReactNode;
  /** What can be done with the whole list, and its filters. */
  children?: ReactNode;
  /** Content between the head and the rows, such as tabs or a form. */
  above?: ReactNode;
  list: ReturnType<typeof usePages<Item>>;
  keyOf: (item: Item) => string;
  /** Where a row leads: use `linkOptions` of the router. */
  linkOf?: (item: Item) => LinkProps;
  /** The first column, one or two lines. */
  main: (item: Item) => readonly [ReactNode, ReactNode?];
  /** The title of the first column. */
  mainTitle: string;
  columns: readonly Column<Item>[];
  /** What a phone shows in place of the columns, one or two lines. */
  side?: (item: Item) => readonly [ReactNode, ReactNode?];
  /** The list is empty although no filter is set. */
  empty: ReactNode;
  /** Removes all filters; undefined when none is set. */
  onClear?: () => void;
}

/**
 * A screen with one list: filters, rows of columns, `j` `k` and `Enter`, and its empty
 * and failed states.
 */
export function ListScreen<Item>({
  title,
  before,
  children,
  above,
  list,
  empty,
  onClear,
  ...rows
}: ListScreenProps<Item>) {
  const { states } = useTexts();
  const { keyOf, linkOf, main, mainTitle, columns, side } = rows;
  const navigate = useNavigate();
  const [at, setAt] = useState(-1);
  useKeys({
    j: () => setAt((from) => Math.min(from + 1, list.items.length - 1)),
    k: () => setAt((from) => Math.max(from - 1, 0)),
    Enter: () => {
      const item = list.items[at];
      if (item === undefined || linkOf === undefined || document.activeElement !== document.body)
        return false;
      void navigate(linkOf(item));
    },
  });
  const grid = {
    '--columns': `minmax(0, 1fr) ${columns.map(({ widthRem }) => `${widthRem}rem`).join(' ')}`,
  } as React.CSSProperties;
  const look =
    'grid grid-cols-[1fr_auto] items-center gap-x-4 px-4 lg:[grid-template-columns:var(--columns)]';
  return (
    <div className="flex h-full flex-col" style={grid}>
      <ScreenHead title={title} before={before}>
        {/* One line that can be scrolled on a phone, so that the list keeps its place. */}
        <div className="flex min-w-0 flex-1 items-center gap-2 overflow-x-auto p-0.5 max-md:w-full max-md:flex-none">
          {children}
          {onClear && (
            <Button look="quiet" onClick={onClear}>
              {states.clearFilters}
            </Button>
          )}
        </div>
      </ScreenHead>
      {above}
      {list.items.length > 0 && (
        <div
          aria-hidden
          className={`${look} h-8 shrink-0 border-b border-n5 bg-n2 text-xs text-n11 max-lg:hidden`}
        >
          <span>{mainTitle}</span>
          {columns.map(({ title: name, isNumber }) => (
            <span key={name} className={`truncate ${isNumber ? 'text-right' : ''}`}>
              {name}
            </span>
          ))}
        </div>
      )}
      <div className="min-h-0 flex-1">
        <Rows
          list={list}
          rowPx={52}
          label={title}
          keyOf={keyOf}
          current={at}
          empty={onClear ? <Empty title={states.emptyFilter} /> : empty}
          render={(item, index) => {
            const [first, second] = main(item);
            const [aside, below] = side?.(item) ?? [];
            const content = (
              <>
                <span className="min-w-0">
                  <span className="block truncate">{first}</span>
                  {second && <span className="block truncate text-xs text-n10">{second}</span>}
                </span>
                {columns.map(({ title: name, isNumber, cell }) => (
                  <span
                    key={name}
                    className={`truncate max-lg:hidden ${isNumber ? 'text-right tabular-nums' : ''}`}
                  >
                    {cell(item)}
                  </span>
                ))}
                {aside && (
                  <span className="text-right text-xs lg:hidden">
                    {aside}
                    <span className="block text-n10">{below}</span>
                  </span>
                )}
              </>
            );
            const row = `${look} h-full border-b border-n4 ${index === at ? 'bg-n3' : linkOf ? 'hover:bg-n2' : ''}`;
            return linkOf ? (
              <Link {...linkOf(item)} className={row}>
                {content}
              </Link>
            ) : (
              <div className={row}>{content}</div>
            );
          }}
        />
      </div>
    </div>
  );
}
