import { withClient } from '../data/client';
import { formatEntity } from '../data/format-entities';
import { parseObject } from '../data/input';
import { print, printJson } from '../terminal';
import type { DataWriteOptions } from './data-create';

/** `parley data update <type> <id> <data>`: merges fields at the top level of `data`. */
export async function runDataUpdate(
  type: string,
  id: string,
  text: string,
  { status, json }: DataWriteOptions,
): Promise<void> {
  const data = await parseObject(text, 'data');
  const entity = await withClient((client) => client.data.update(type, id, { data, status }));
  if (json) printJson(entity);
  else print(formatEntity(entity));
}
