import { setImmediate } from 'node:timers/promises';
import type { JsonObject, Scope } from '@parley/contracts';
import { type Db, type Queryable, type RowOf, column, statement } from '@parley/db';
import { encodeValue } from '../field-index/encode-value';
import { shapeField, updatedAtField } from '../field-index/field-hash';
import { indexRows } from '../field-index/index-rows';
import { arrayLiteral, byteaElement } from '../sql';
import { maxShapes, storedShape } from './type-cache';
import { indexLockSpace, lockOutWriters } from './writer-lock';

/** Entities of one transaction. */
const batchSize = 2_000;
/** Stored size of their data at which a batch ends, in bytes. */
const maxBatchBytes = 4 * 1_048_576;
/** Entries at which a statement ends. */
const maxEntries = 20_000;
/** Entities whose entries are computed before the process handles other events. */
const entitiesPerTurn = 25;

/**
 * Indexes the entities of full segments that have no index entries yet (docs/adr/0073), in batches. `indexed_to` of the type moves with
 * the entries in one transaction, so that an interrupted run continues where it stopped, and two runs cannot index an
 * entity twice.
 */
export async function indexNewest(db: Db, scope: Scope, no: number): Promise<void> {
  while (await db.transaction((tx) => indexBatch(tx, scope, no)));
}

const position = column.text;

const nextBatch = statement(
  'next-batch-to-index',
  `select indexed_to::text as "from", (segment_floor << 21)::text as end,
     array(select encode(shape, 'hex') from entity_shapes s where s.tenant = $1 and s.type_no = t.no limit ${2 * maxShapes}) as shapes
   from entity_types t where tenant = $1 and no = $2 and indexed_to < segment_floor << 21 and pg_try_advisory_xact_lock(${indexLockSpace}, no)`,
  { from: position, end: position, shapes: column.textArray },
);

const entityRow = {
  pos: position,
  part: column.int4,
  segment: column.int4,
  status: column.text,
  data: column.jsonb<JsonObject>(),
  updatedAt: column.text,
};
type StoredEntity = RowOf<typeof entityRow>;
const entityColumns = 'pos::text, part, segment, status, data, updated_at::text as "updatedAt"';

const readBatch = statement(
  'entities-to-index',
  `select ${entityColumns} from (
     select *, sum(pg_column_size(data)) over (order by pos rows unbounded preceding) - pg_column_size(data) as bytes from (
       (select * from entities where tenant = $1 and part = $2 and pos >= $3 and pos < $4 order by pos limit ${batchSize})
       union all
       (select * from entities where tenant = $1 and part = -$2::int and pos >= $3 and pos < $4 order by pos limit ${batchSize})) e
     order by pos limit ${batchSize}) e
   where bytes < ${maxBatchBytes} order by e.pos`,
  entityRow,
);

/** The entries in the parameters that `writeEntries` passes. */
const entriesSql = `unnest($5::int[], $6::int[], $7::bytea[]) x(at, field, value)
  join unnest($2::int[], $3::int[], $4::bigint[]) with ordinality e(part, segment, pos, at) using (at)`;

const addEntries = statement(
  'add-index-entries',
  `insert into entity_fields (tenant, part, segment, field, value, pos)
   select $1, part, segment, field, value, pos from ${entriesSql} order by field, value, pos`,
);

const removeEntries = statement(
  'remove-index-entries',
  `delete from entity_fields f using (select * from ${entriesSql}) x where f.tenant = $1 and f.part = x.part
     and f.segment = x.segment and f.field = x.field and f.value = x.value and f.pos = x.pos`,
);

const addShape = statement(
  'add-entity-shape',
  'insert into entity_shapes (tenant, type_no, shape, fields) values ($1, $2, $3, $4) on conflict do nothing',
);

/** To the first entity from `$4` on that is not indexed, or to the end of the full segments. */
const advance = statement(
  'advance-index',
  `update entity_types set indexed_to = least($5,
     (select min(pos) from entities where tenant = $1 and part = $2 and pos >= $4 and pos < $5),
     (select min(pos) from entities where tenant = $1 and part = -$2::int and pos >= $4 and pos < $5))
   where tenant = $1 and no = $2 and indexed_to = $3`,
);

const changedSince = statement(
  'entities-changed-since',
  `select ${entityColumns} from unnest($3::bigint[], $4::int[], $5::bigint[]) x(at, was, seen)
   cross join lateral (select * from entities e where e.tenant = $1 and e.part in ($2, -$2::int) and e.pos = x.at offset 0) e
   where (e.part, e.updated_at) <> (x.was, x.seen)`,
  entityRow,
);

/** Indexes one batch. Returns whether there may be more. */
async function indexBatch(tx: Queryable, scope: Scope, no: number): Promise<boolean> {
  const key = [scope.tenant, no];
  const [batch] = (await tx.query(scope, nextBatch, key)).rows;
  if (batch === undefined) return false;
  const entities = (await tx.query(scope, readBatch, [...key, batch.from, batch.end])).rows;
  const shapes = new Set(batch.shapes);
  await writeEntries(tx, scope, addEntries, { no, entities, shapes });
  // Writers are locked out only from here to the commit: later ones see that these entities are indexed.
  await tx.query(scope, lockOutWriters, [...key, '500ms']);
  const next = BigInt(entities.at(-1)?.pos ?? batch.from) + 1n;
  const { rowCount } = await tx.query(scope, advance, [...key, batch.from, next, batch.end]);
  if (rowCount === 0) throw new Error('Another process has indexed these entities');
  // Others may have changed while their entries were written.
  const changed = (
    await tx.query(scope, changedSince, [
      ...key,
      entities.map(({ pos }) => pos),
      entities.map(({ part }) => part),
      entities.map(({ updatedAt }) => updatedAt),
    ])
  ).rows;
  if (changed.length > 0) {
    const seen = new Set(changed.map(({ pos }) => pos));
    const before = entities.filter(({ pos }) => seen.has(pos));
    await writeEntries(tx, scope, removeEntries, { no, entities: before, shapes });
    await writeEntries(tx, scope, addEntries, { no, entities: changed, shapes });
  }
  return true;
}

/** Passes the index entries of these entities to a statement. Stores shapes that are new. */
async function writeEntries(
  tx: Queryable,
  scope: Scope,
  statement: typeof addEntries | typeof removeEntries,
  { no, entities, shapes }: { no: number; entities: readonly StoredEntity[]; shapes: Set<string> },
): Promise<void> {
  const each = (column: 'part' | 'segment' | 'pos') => entities.map((entity) => entity[column]);
  const places = [each('part'), each('segment'), each('pos')];
  let [at, fields, values]: [number[], number[], string[]] = [[], [], []];
  for (const [index, { data, status, updatedAt }] of entities.entries()) {
    if (index % entitiesPerTurn === 0) await setImmediate();
    const rows = indexRows(data, status);
    const shape = storedShape({ shapes }, rows.shape);
    const text = shape.key.toString('hex');
    if (!shapes.has(text)) {
      shapes.add(text);
      await tx.query(scope, addShape, [scope.tenant, no, shape.key, shape.fields ?? []]);
    }
    fields.push(...rows.fields, shapeField, updatedAtField);
    for (const value of [...rows.values, shape.key, encodeValue(Number(updatedAt))])
      values.push(byteaElement(value));
    while (at.length < fields.length) at.push(index + 1);
    if (fields.length < maxEntries && index < entities.length - 1) continue;
    await tx.query(scope, statement, [
      scope.tenant,
      ...[...places, at, fields, values].map(arrayLiteral),
    ]);
    [at, fields, values] = [[], [], []];
  }
}
