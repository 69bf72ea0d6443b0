import { setImmediate } from 'node:timers/promises';
import type { JsonObject, Scope } from '@parley/contracts';
import { type Queryable, type RowOf, column, statement } from '@parley/db';
import { encodeValue } from '../field-index/encode-value';
import { shapeField, updatedAtField } from '../field-index/field-hash';
import { indexRows } from '../field-index/index-rows';
import { arrayLiteral, byteaElement } from '../sql';
import { storedShape } from './type-cache';

/** Entries at which a statement ends. */
const maxEntries = 20_000;
/** Entities whose entries are computed before the process handles other events. */
const entitiesPerTurn = 25;

/** An entity as far as its index entries depend on it. */
export const entityRow = {
  pos: column.text,
  part: column.int4,
  segment: column.int4,
  status: column.text,
  data: column.jsonb<JsonObject>(),
  updatedAt: column.text,
};
export type StoredEntity = RowOf<typeof entityRow>;
export const entityColumns =
  'pos::text, part, segment, status, data, updated_at::text as "updatedAt"';

/** The entries in the parameters that `writeEntries` passes. */
const entriesSql = `unnest($at::int[], $fields::int[], $values::bytea[]) x(at, field, value)
  join unnest($parts::int[], $segments::int[], $positions::bigint[])
    with ordinality e(part, segment, pos, at) using (at)`;

export const addEntries = statement(
  'add-index-entries',
  `insert into entity_fields (tenant, part, segment, field, value, pos)
   select $tenant, part, segment, field, value, pos from ${entriesSql} order by field, value, pos`,
);

export const removeEntries = statement(
  'remove-index-entries',
  `delete from entity_fields f using (select * from ${entriesSql}) x where f.tenant = $tenant and f.part = x.part
     and f.segment = x.segment and f.field = x.field and f.value = x.value and f.pos = x.pos`,
);

const addShape = statement(
  'add-entity-shape',
  'insert into entity_shapes (tenant, type_no, shape, fields) values ($tenant, $no, $key, $fields) on conflict do nothing',
);

/** Passes the index entries of these entities to a statement. Stores shapes that are new. */
export async function writeEntries(
  tx: Queryable,
  scope: Scope,
  statement: typeof addEntries | typeof removeEntries,
  { no, entities, shapes }: { no: number; entities: readonly StoredEntity[]; shapes: Set<string> },
): Promise<void> {
  const each = (column: 'part' | 'segment' | 'pos') => entities.map((entity) => entity[column]);
  const places = {
    parts: arrayLiteral(each('part')),
    segments: arrayLiteral(each('segment')),
    positions: arrayLiteral(each('pos')),
  };
  let [at, fields, values]: [number[], number[], string[]] = [[], [], []];
  for (const [index, { data, status, updatedAt }] of entities.entries()) {
    if (index % entitiesPerTurn === 0) await setImmediate();
    const rows = indexRows(data, status);
    const shape = storedShape({ shapes }, rows.shape);
    const text = shape.key.toString('hex');
    if (!shapes.has(text)) {
      shapes.add(text);
      await tx.query(scope, addShape, { no, key: shape.key, fields: shape.fields ?? [] });
    }
    fields.push(...rows.fields, shapeField, updatedAtField);
    for (const value of [...rows.values, shape.key, encodeValue(Number(updatedAt))])
      values.push(byteaElement(value));
    while (at.length < fields.length) at.push(index + 1);
    if (fields.length < maxEntries && index < entities.length - 1) continue;
    await tx.query(scope, statement, {
      ...places,
      at: arrayLiteral(at),
      fields: arrayLiteral(fields),
      values: arrayLiteral(values),
    });
    [at, fields, values] = [[], [], []];
  }
}
