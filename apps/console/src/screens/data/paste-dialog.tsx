import type { ParleyClient } from '@parley/client';
import { parseCsv } from '@parley/rows';
import { useQuery } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { useWorkspace } from '../../frame/workspace';
import { formatNumber, useLanguage, useTexts } from '../../i18n';
import { Choice } from '../../parts/controls';
import { FormDialog } from '../../parts/form-dialog';
import { TableHead } from '../../parts/table-head';
import { startWork } from '../../work/work';
import { type Operation, batchSize, change } from './bulk';
import { type PastedCell, planPaste } from './clipboard';
import { DecimalChoice } from './decimal-choice';
import type { EntityList } from './entity-list';
import type { GridColumn } from './grid-column';
import { guessDecimal } from './guess-decimal';
import type { Range } from './grid-keys';
import { dataCatalog } from './texts';
import type { CellEdits } from './use-cell-edits';
import { showValue } from './values';

/** Rows of the preview. */
const shownRows = 100;
/** Cells that one paste takes; more is an import. */
const maxCells = 50_000;
const delimiters = ['\t', ',', ';'] as const;

/**
 * Tabs separate the cells of spreadsheets; without any, commas or semicolons that every line has.
 */
function guessDelimiter(text: string): string {
  if (text.includes('\t')) return '\t';
  const lines = text.split(/\r?\n/).filter((line) => line !== '');
  return (
    delimiters
      .slice(1)
      .find((sign) => lines.length > 1 && lines.every((line) => line.includes(sign))) ?? '\t'
  );
}

interface PasteDialogProps {
  type: string;
  text: string;
  at: Range;
  columns: readonly GridColumn[];
  list: EntityList;
  edits: CellEdits;
  onClose: () => void;
}

/**
 * Shows what a paste will change before it does. Cells that fit no field are marked, and
 * are not changed.
 */
export function PasteDialog({ type, text, at, columns, list, edits, onClose }: PasteDialogProps) {
  const texts = useTexts(dataCatalog);
  const { client } = useWorkspace();
  const language = useLanguage();
  const [delimiter, setDelimiter] = useState(() => guessDelimiter(text));
  const [decimal, setDecimal] = useState(() =>
    guessDecimal(text.split(/[\t\r\n"]/), language === 'es' ? ',' : '.'),
  );
  const { paste, problem } = useMemo(() => {
    try {
      // An empty text empties the marked cells.
      const table =
        text === ''
          ? [['']]
          : parseCsv(text, { delimiter, keepEmptyLines: true }).map(({ cells }) => cells);
      return {
        paste: planPaste(table, at, columns, (row) => list.at(row), decimal),
        problem: null,
      };
    } catch (error) {
      return {
        paste: { cells: [], outside: { rows: 0, columns: 0 } },
        problem: (error as Error).message,
      };
    }
  }, [text, delimiter, decimal, at, columns, list]);
  const wanted = useMemo(() => paste.cells.filter(({ isChanged }) => isChanged), [paste]);
  const isTooLarge = paste.cells.length > maxCells;
  const check = useQuery({
    queryKey: ['paste', type, text, delimiter, decimal, at],
    queryFn: ({ signal }) => refusedCells(client, type, wanted, signal),
    enabled: wanted.length > 0 && !isTooLarge,
    gcTime: 0,
    staleTime: Infinity,
  });
  const reasonOf = (cell: PastedCell): string | undefined =>
    cell.read.ok ? check.data?.get(cellKey(cell)) : texts.expected(cell.read.expected);
  const changed = wanted.filter((cell) => reasonOf(cell) === undefined);
  const wrong = paste.cells.filter((cell) => reasonOf(cell) !== undefined);
  const entities = new Set(changed.map(({ entity }) => entity.id));
  const counts = { cells: formatNumber(changed.length), rows: formatNumber(entities.size) };
  const hasNumbers = paste.cells.some(
    ({ field }) => field.kind === 'number' || field.kind === 'integer',
  );
  const apply = () => {
    const byEntity = cellsByEntity(changed);
    const ids = [...byEntity.keys()];
    const operations = ids.map((id) => operationOf(id, byEntity.get(id)!));
    let done = 0;
    startWork(
      texts.pasting(counts.cells, counts.rows),
      async (progress) => {
        try {
          await change(client, type, operations, progress, (index, reason) => {
            const id = ids[index]!;
            progress.advance((done += 1), ids.length);
            if (reason === null) return;
            progress.refuse({ item: id, reason });
            for (const { field, text: refused } of byEntity.get(id)!)
              edits.refuse(id, field.name, refused, reason);
          });
        } finally {
          await list.refresh(new AbortController().signal);
        }
        return { message: texts.changed(formatNumber(ids.length - progress.refused())) };
      },
      { total: ids.length },
    );
    // Wrong texts stay in their cells with the reason.
    for (const cell of wrong)
      edits.refuse(cell.entity.id, cell.field.name, cell.text, reasonOf(cell)!);
    onClose();
  };
  return (
    <FormDialog
      title={text === '' ? texts.emptyCells : texts.paste}
      action={texts.changeCells(counts.cells)}
      isReady={changed.length > 0 && !isTooLarge && !check.isFetching}
      run={{
        error: isTooLarge ? texts.tooManyCells(formatNumber(maxCells)) : (problem ?? check.error),
      }}
      onSubmit={apply}
      onClose={onClose}
      wide
    >
      <p>
        {texts.willChange(counts.cells, counts.rows)}{' '}
        {wrong.length > 0 && (
          <span className="text-failed">{texts.wrongCells(formatNumber(wrong.length))}</span>
        )}
      </p>
      {(paste.outside.rows > 0 || paste.outside.columns > 0) && (
        <p className="text-waiting">{texts.outside(paste.outside.rows, paste.outside.columns)}</p>
      )}
      {text !== '' && (
        <div className="flex flex-wrap gap-2">
          <Choice
            label={texts.separator}
            value={delimiter}
            onChange={({ target }) => setDelimiter(target.value)}
            options={delimiters.map((sign) => [sign, texts.separators[sign]] as const)}
          />
          {hasNumbers && <DecimalChoice value={decimal} onChange={setDecimal} />}
        </div>
      )}
      {check.isFetching && (
        <p role="status" className="text-n11">
          {texts.checking}
        </p>
      )}
      <Preview cells={[...wrong, ...changed].slice(0, shownRows)} reasonOf={reasonOf} />
      {wrong.length + changed.length > shownRows && (
        <p className="text-n11">{texts.firstOnes(formatNumber(shownRows))}</p>
      )}
    </FormDialog>
  );
}

function cellsByEntity(cells: readonly PastedCell[]): Map<string, PastedCell[]> {
  const byEntity = new Map<string, PastedCell[]>();
  for (const cell of cells) {
    const own = byEntity.get(cell.entity.id);
    if (own) own.push(cell);
    else byEntity.set(cell.entity.id, [cell]);
  }
  return byEntity;
}

const operationOf = (id: string, cells: readonly PastedCell[]): Operation => ({
  action: 'update',
  id,
  data: Object.fromEntries(
    cells.flatMap(({ field, read }) => (read.ok ? [[field.name, read.value]] : [])),
  ),
});

const cellKey = ({ entity, field }: PastedCell): string => `${entity.id} ${field.name}`;

/** The cells that the server would refuse, by a dry run, with the reason. */
async function refusedCells(
  client: ParleyClient,
  type: string,
  cells: readonly PastedCell[],
  signal: AbortSignal,
): Promise<Map<string, string>> {
  const byEntity = cellsByEntity(cells);
  const operations = [...byEntity].map(([id, own]) => operationOf(id, own));
  const groups = [...byEntity.values()];
  const refused = new Map<string, string>();
  for (let from = 0; from < operations.length;) {
    const batch = operations.slice(from, from + batchSize(operations, from));
    const { results } = await client.data.bulk(
      type,
      { operations: batch, dryRun: true },
      { signal },
    );
    for (const [at, result] of results.entries()) {
      if (result.ok) continue;
      const own = groups[from + at]!;
      const named = own.filter((cell) => detailOf(result.details, cell) !== undefined);
      // A reason without a field is that of the whole entity, such as one that was deleted.
      for (const cell of named.length > 0 ? named : own)
        refused.set(cellKey(cell), detailOf(result.details, cell) ?? result.error);
    }
    from += batch.length;
  }
  return refused;
}

function detailOf(
  details: { path: string; message: string }[] | undefined,
  { field }: PastedCell,
): string | undefined {
  const path = `data.${field.name}`;
  return details?.find((one) => one.path === path || one.path.startsWith(`${path}.`))?.message;
}

function Preview({
  cells,
  reasonOf,
}: {
  cells: readonly PastedCell[];
  reasonOf: (cell: PastedCell) => string | undefined;
}) {
  const texts = useTexts(dataCatalog);
  if (cells.length === 0) return null;
  return (
    <div className="max-h-80 overflow-auto rounded border border-n5" tabIndex={0}>
      <table className="w-full text-left">
        <TableHead titles={[texts.entity, texts.field, texts.before, texts.after]} />
        <tbody>
          {cells.map((cell) => {
            const { entity, field, before, read, text } = cell;
            const reason = reasonOf(cell);
            return (
              <tr key={cellKey(cell)} className="border-t border-n4 align-top">
                <td className="px-2 py-1 font-mono text-xs text-n11">{entity.id.slice(-8)}</td>
                <td className="px-2 py-1">{field.name}</td>
                <td className="px-2 py-1 text-n11">{showValue(before, field).slice(0, 200)}</td>
                <td className={`px-2 py-1 ${reason === undefined ? '' : 'text-failed'}`}>
                  {(read.ok ? showValue(read.value, field) : text).slice(0, 200) ||
                    texts.emptyValue}
                  {reason !== undefined && <span className="block text-xs">{reason}</span>}
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}
