import { migrationsOfBackup } from '@parley/db';
import type { BackupPart } from './format';

/** Tables of builds before 0.1.0 that the baseline does not have. What they contain is not used. */
const dropped = new Set(['shared_messaging_secrets']);

/** Leaves the dropped tables of a backup out, and names its migrations as this version does. */
export async function* fitBaseline(
  parts: AsyncIterable<BackupPart>,
): AsyncGenerator<BackupPart, undefined, undefined> {
  for await (const part of parts) {
    if (part.kind === 'rows') {
      if (!dropped.has(part.table)) yield part;
    } else if (part.kind === 'manifest') {
      const { manifest } = part;
      const tables = manifest.tables.filter(({ name }) => !dropped.has(name));
      const migrations = migrationsOfBackup(manifest.migrations);
      yield { kind: 'manifest', manifest: { ...manifest, tables, migrations } };
    } else {
      const kept = Object.entries(part.end.rows).filter(([table]) => !dropped.has(table));
      yield { ...part, end: { ...part.end, rows: Object.fromEntries(kept) } };
    }
  }
}
