import type { Entity } from '@parley/client';
import { messageOf } from '../../api/errors';
import { formatNumber, useTexts } from '../../i18n';
import { Button } from '../../parts/controls';
import type { EntityList } from './entity-list';
import { type GridColumn, valueOf } from './grid-column';
import { dataCatalog } from './texts';
import type { CellEdits } from './use-cell-edits';
import { showValue } from './values';

/**
 * Below the grid: the whole value at the cursor or why it was refused, and how many
 * rows are loaded.
 */
export function GridFoot({
  list,
  total,
  column,
  entity,
  edits,
}: {
  list: EntityList;
  total: number | undefined;
  column: GridColumn | undefined;
  entity: Entity | undefined;
  edits: CellEdits;
}) {
  const texts = useTexts(dataCatalog);
  const { states } = useTexts();
  const field = column?.is === 'field' ? column.field : undefined;
  const problem = entity && field ? edits.of(entity.id, field.name)?.problem : undefined;
  const value = entity && field ? showValue(valueOf(entity, field), field) : '';
  return (
    <div className="flex min-h-8 shrink-0 items-center gap-4 border-t border-n5 px-4 text-xs text-n11">
      <span role="status" className={`min-w-0 flex-1 truncate ${problem ? 'text-failed' : ''}`}>
        {problem ? (
          <>
            {'reason' in problem ? problem.reason : texts.expected(problem.expected)}{' '}
            {texts.refusedHint}
          </>
        ) : value !== '' ? (
          <>
            <span className="text-n10">{field!.name}</span> {value.slice(0, 500)}
          </>
        ) : (
          texts.gridKeys
        )}
      </span>
      {edits.refused > 0 && <span className="text-failed">{texts.notSaved(edits.refused)}</span>}
      {list.error !== null && (
        <span role="alert" className="flex items-center gap-2 text-failed">
          {messageOf(list.error)}
          <Button onClick={() => list.retry()}>{states.retry}</Button>
        </span>
      )}
      <span className="tabular-nums">
        {list.hasMore
          ? texts.loadedOf(
              formatNumber(list.count),
              total === undefined ? '…' : formatNumber(total),
            )
          : texts.all(formatNumber(list.count))}
      </span>
    </div>
  );
}
