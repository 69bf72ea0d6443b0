import { type Entity, ownValue } from '@parley/contracts';
import { previewOf } from '../safe-text';
import { formatFields, formatTable, formatTime } from '../terminal';

const shownFields = 5;

/** Formats entities as a table, with the most frequent fields of `data` as columns. */
export function formatEntities(entities: Entity[]): string {
  const counts = new Map<string, number>();
  for (const { data } of entities)
    for (const name of Object.keys(data)) counts.set(name, (counts.get(name) ?? 0) + 1);
  const fields = [...counts]
    .sort((a, b) => b[1] - a[1])
    .map(([name]) => name)
    .slice(0, shownFields);
  return formatTable(
    ['ID', 'STATUS', 'CREATED', ...fields],
    entities.map((entity) => [
      entity.id,
      entity.status,
      formatTime(new Date(entity.createdAt)),
      ...fields.map((name) => previewOf(textOf(ownValue(entity.data, name)), 40)),
    ]),
  );
}

export function formatEntity({ id, type, status, data, createdAt, updatedAt }: Entity): string {
  const head = formatFields({
    id,
    type,
    status,
    created: formatTime(new Date(createdAt)),
    updated: formatTime(new Date(updatedAt)),
  });
  const names = Object.keys(data);
  return names.length === 0
    ? head
    : `${head}\n\n${formatFields(Object.fromEntries(names.map((name) => [name, textOf(ownValue(data, name))])))}`;
}

const textOf = (value: unknown): string =>
  value === undefined ? '' : typeof value === 'string' ? value : JSON.stringify(value);
