import { withClient } from '../data/client';
import { print, printJson } from '../terminal';

/**
 * `parley data delete <type> <id>`: soft-deletes an entity.
 * `data update … --status active` restores it.
 */
export async function runDataDelete(
  type: string,
  id: string,
  { json }: { json?: boolean },
): Promise<void> {
  const deleted = await withClient((client) => client.data.delete(type, id));
  if (json) printJson(deleted);
  else print(`Deleted ${id}.`);
}
