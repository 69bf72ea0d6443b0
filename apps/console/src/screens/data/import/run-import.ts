import type { ParleyClient } from '@parley/client';
import type { FileEntity } from '@parley/rows';
import { untilAdmitted } from '../../../work/until-admitted';
import type { Progress } from '../../../work/work';
import { type Operation, batchSize, maxOperations, reasonOf } from '../bulk';
import type { ImportFile } from './import-file';
import type { FileRow, Reading, RowProblem } from './messages';

/** How far an import has come. Everything before `next` has its answer. */
export interface ImportState {
  importId: string;
  /** The place of the next row, from 0. */
  next: number;
  created: number;
  updated: number;
  refused: number;
}

/** A row that was not stored. */
export interface RefusedRow {
  line: number;
  reason: string;
}

interface Import {
  client: ParleyClient;
  type: string;
  /** The file, and its name. */
  file: Pick<ImportFile, 'name' | 'read' | 'close'>;
  rowCount: number;
  reading: Reading;
  isDryRun: boolean;
  explain: (problem: RowProblem) => string;
  /** Called after each request, with the rows that it refused. */
  onStep: (state: ImportState, refused: readonly RefusedRow[]) => void;
}

/** A row with an id changes that entity; any other one is created. */
const operationOf = ({ id, data, status }: FileEntity): Operation => ({
  ...(id === undefined ? { action: 'create' as const } : { action: 'update' as const, id }),
  data,
  ...(status !== undefined && { status }),
});

/**
 * Sends the rows from `state.next` on, at most 500 with a request. The key of a request is made of
 * its rows, so that a request whose answer was lost is not made twice when the import continues.
 */
export async function runImport(
  work: Import,
  state: ImportState,
  progress: Progress,
): Promise<ImportState> {
  for (let at = { ...state }; ;) {
    if (at.next >= work.rowCount) return at;
    progress.signal.throwIfAborted();
    const rows = await work.file.read(at.next, maxOperations, work.reading);
    const { count, operations, lines, refused } = nextBatch(rows, work.explain);
    if (operations.length > 0) {
      const idempotencyKey = `import-${at.importId}-${at.next}-${count}`;
      const { client, type, isDryRun } = work;
      const body = { operations, ...(isDryRun && { dryRun: true }) };
      const { results } = await untilAdmitted(
        () => client.data.bulk(type, body, isDryRun ? {} : { idempotencyKey }),
        progress,
      );
      for (const [index, result] of results.entries()) {
        if (!result.ok) refused.push({ line: lines[index]!, reason: reasonOf(result) });
        else if (operations[index]!.action === 'create') at.created += 1;
        else at.updated += 1;
      }
    }
    at = { ...at, next: at.next + count, refused: at.refused + refused.length };
    progress.advance(at.next, work.rowCount);
    work.onStep(
      at,
      refused.sort((a, b) => a.line - b.line),
    );
  }
}

/** The rows of one request: as many of them as fit. */
function nextBatch(rows: readonly FileRow[], explain: Import['explain']) {
  const all = rows.flatMap((row) => (row.ok ? [operationOf(row.entity)] : []));
  const size = batchSize(all, 0);
  const operations: Operation[] = [];
  const lines: number[] = [];
  const refused: RefusedRow[] = [];
  let count = 0;
  for (const row of rows) {
    if (row.ok && operations.length === size) break;
    count += 1;
    if (!row.ok) refused.push({ line: row.line, reason: explain(row.problem) });
    else {
      operations.push(all[operations.length]!);
      lines.push(row.line);
    }
  }
  return { count, operations, lines, refused };
}
