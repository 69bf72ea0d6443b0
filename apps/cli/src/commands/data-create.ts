import { withClient } from '../data/client';
import { formatEntity } from '../data/format-entities';
import { parseObject } from '../data/input';
import { print, printJson } from '../terminal';

export interface DataWriteOptions {
  status?: string;
  json?: boolean;
}

/** `parley data create <type> <data>`: creates an entity and prints it. */
export async function runDataCreate(
  type: string,
  text: string,
  { status, json }: DataWriteOptions,
): Promise<void> {
  const data = await parseObject(text, 'data');
  const entity = await withClient((client) => client.data.create(type, { data, status }));
  if (json) printJson(entity);
  else print(formatEntity(entity));
}
