import type { Json } from '@parley/client';
import { ownValue } from '@parley/rows';
import { useVirtualizer } from '@tanstack/react-virtual';
import { useEffect, useRef } from 'react';
import { formatNumber, useTexts } from '../../i18n';
import { Button } from '../../parts/controls';
import { messageOf } from '../../api/errors';
import { Ago } from '../../parts/time';
import type { EntityList } from './entity-list';
import { type DataType, labelOf } from './fields';
import { dataCatalog } from './texts';
import type { Selection } from './use-selection';
import { showValue } from './values';

const rowPx = 64;
const shownFields = 3;

/** The rows of a phone: what an entity is called, and its first other fields. */
export function Cards({
  type,
  list,
  total,
  selection,
  onOpen,
}: {
  type: DataType;
  list: EntityList;
  total: number | undefined;
  selection: Selection;
  onOpen: (id: string) => void;
}) {
  const texts = useTexts(dataCatalog);
  const { states } = useTexts();
  const scroller = useRef<HTMLDivElement>(null);
  const rows = useVirtualizer({
    count: list.count,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowPx,
    overscan: 8,
  });
  const { startIndex = 0, endIndex = 0 } = rows.range ?? {};
  const version = list.version();
  useEffect(() => list.show(startIndex, endIndex), [list, version, startIndex, endIndex]);
  return (
    <div ref={scroller} className="h-full overflow-auto">
      <ul aria-label={type.name} className="relative" style={{ height: rows.getTotalSize() }}>
        {rows.getVirtualItems().map(({ index, start }) => {
          const entity = list.at(index);
          const label = entity ? labelOf(entity, type) : '';
          const values = type.fields
            .map((field) =>
              showValue(ownValue((entity?.data ?? {}) as Record<string, Json>, field.name), field),
            )
            .filter((text) => text !== '' && text !== label)
            .slice(0, shownFields);
          return (
            <li
              key={index}
              className="absolute inset-x-0 top-0 flex border-b border-n4"
              style={{ height: rowPx, transform: `translateY(${start}px)` }}
            >
              {entity && (
                <>
                  <label className="flex w-12 shrink-0 items-center justify-center">
                    <input
                      type="checkbox"
                      className="h-5 w-5"
                      aria-label={texts.selectRow(label)}
                      checked={selection.has(entity.id)}
                      onChange={() => selection.toggle(index, false)}
                    />
                  </label>
                  <button
                    type="button"
                    onClick={() => onOpen(entity.id)}
                    className="flex min-w-0 flex-1 flex-col justify-center pr-4 text-left"
                  >
                    <span className="flex w-full items-baseline gap-2">
                      <span className="min-w-0 flex-1 truncate text-base font-medium">{label}</span>
                      <Ago at={entity.updatedAt} className="text-xs text-n11" />
                    </span>
                    <span className="w-full truncate text-n11">
                      {values.join(' · ').slice(0, 300)}
                    </span>
                  </button>
                </>
              )}
            </li>
          );
        })}
      </ul>
      <p className="flex items-center gap-2 px-4 py-2 text-xs text-n11">
        {list.error !== null && (
          <span role="alert" className="text-failed">
            {messageOf(list.error)} <Button onClick={() => list.retry()}>{states.retry}</Button>
          </span>
        )}
        {list.hasMore
          ? texts.loadedOf(
              formatNumber(list.count),
              total === undefined ? '…' : formatNumber(total),
            )
          : texts.all(formatNumber(list.count))}
      </p>
    </div>
  );
}
