import { withDatabase } from '../database';
import { listHeldWork } from '../held/held-kinds';
import { formatTable, formatTime, note, print, printJson } from '../terminal';

/** `parley held list`: the work that a restore holds, by kind, organization and environment. */
export async function runHeldList({ json }: { json?: boolean }): Promise<void> {
  const held = await withDatabase(listHeldWork);
  if (json) return printJson({ held });
  if (held.length === 0) return note('No work is held');
  const rows = held.map(({ kind, organization, environment, count, oldest }) => [
    ...[kind, organization ?? '-', environment ?? '-'],
    ...[String(count), formatTime(oldest)],
  ]);
  print(formatTable(['KIND', 'ORGANIZATION', 'ENVIRONMENT', 'COUNT', 'OLDEST'], rows));
}
