import { ArrowDown, ArrowUp } from 'lucide-react';
import { useTexts } from '../../i18n';
import { type GridColumn, isNumeric } from './grid-column';
import type { Position } from './grid-keys';
import type { DataSearch } from './search';
import { dataCatalog } from './texts';
import type { Selection } from './use-selection';

type Sort = Pick<DataSearch, 'sort' | 'direction'>;

/** Ascending, descending, then the order of creation. */
const nextSort = (field: string, { sort, direction }: Sort): Sort =>
  sort !== field
    ? { sort: field, direction: 'asc' }
    : direction === 'desc'
      ? { sort: undefined, direction: undefined }
      : { sort: field, direction: 'desc' };

/** The head of the grid: selects all loaded rows, and sorts by a field. */
export function GridHead({
  columns,
  search,
  active,
  selection,
  onSort,
  onFocus,
}: {
  columns: readonly GridColumn[];
  search: Sort & { q?: string };
  active: Position;
  selection: Selection;
  onSort: (sort: Sort) => void;
  onFocus: (position: Position) => void;
}) {
  const texts = useTexts(dataCatalog);
  return (
    <div
      role="row"
      aria-rowindex={1}
      className="sticky top-0 z-[2] grid h-8 [grid-template-columns:var(--columns)] border-b border-n5 bg-n2 text-n11"
    >
      {columns.map((column, at) => {
        const cell = {
          'data-row': -1,
          'data-column': at,
          tabIndex: active.row === -1 && active.column === at ? 0 : -1,
          onFocus: () =>
            (active.row !== -1 || active.column !== at) && onFocus({ row: -1, column: at }),
        };
        if (column.is === 'row')
          return (
            <div
              key={at}
              role="columnheader"
              aria-colindex={1}
              className="sticky left-0 z-[3] flex items-center bg-inherit px-2"
            >
              <input
                {...cell}
                type="checkbox"
                aria-label={texts.selectLoaded}
                checked={selection.isAllLoaded}
                ref={(box) => {
                  if (box) box.indeterminate = !selection.isAllLoaded && selection.size > 0;
                }}
                onChange={selection.toggleLoaded}
              />
            </div>
          );
        const name = column.is === 'updated' ? 'updatedAt' : column.field.name;
        const label = column.is === 'updated' ? texts.updated : name;
        const isSorted = search.q === undefined && search.sort === name;
        const Icon = search.direction === 'desc' ? ArrowDown : ArrowUp;
        return (
          <div
            key={at}
            role="columnheader"
            aria-colindex={at + 1}
            aria-sort={
              !isSorted ? 'none' : search.direction === 'desc' ? 'descending' : 'ascending'
            }
            className="min-w-0 border-l border-n4"
          >
            <button
              {...cell}
              type="button"
              title={search.q === undefined ? texts.sortBy(label) : texts.sortedByRank}
              aria-disabled={search.q !== undefined}
              onClick={() => search.q === undefined && onSort(nextSort(name, search))}
              className={`flex h-full w-full min-w-0 items-center gap-1 px-2 hover:bg-n4 focus-visible:-outline-offset-2 ${
                column.is === 'field' && isNumeric(column.field) ? 'justify-end' : ''
              }`}
            >
              <span className="truncate">{label}</span>
              {column.is === 'field' && column.field.isRequired && (
                <span title={texts.required}>*</span>
              )}
              {isSorted && <Icon aria-hidden size={12} className="shrink-0" />}
            </button>
          </div>
        );
      })}
    </div>
  );
}
