import { withClient } from '../data/client';
import { formatEntity } from '../data/format-entities';
import { print, printJson } from '../terminal';

/** `parley data get <type> <id>`: prints an entity. */
export async function runDataGet(
  type: string,
  id: string,
  { json }: { json?: boolean },
): Promise<void> {
  const entity = await withClient((client) => client.data.get(type, id));
  if (json) printJson(entity);
  else print(formatEntity(entity));
}
