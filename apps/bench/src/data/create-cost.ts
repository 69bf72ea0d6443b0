import { randomBytes } from 'node:crypto';
import type { JsonObject, Scope } from '@parley/contracts';
import type { Db } from '@parley/db';
import type { Entities } from '@parley/entities';
import { type, actor } from './load-entities';

let made = 0;

/** A customer like the loaded ones: 14 fields, about 400 bytes. */
export function newCustomer(): JsonObject {
  const hex = randomBytes(16).toString('hex');
  made += 1;
  return {
    name: `Customer ${hex.slice(0, 8)}`,
    email: `${hex.slice(0, 8)}@example${made % 100}.com`,
    city: `city-${made & 63}`,
    amount: Math.round(Math.random() * 1e8) / 100,
    score: made % 101,
    seq: made,
    active: made % 2 === 0,
    tier: ['gold', 'silver', 'bronze', 'none'][made % 4]!,
    note: `${hex} w${made % 1000}`,
    address: { zip: hex.slice(0, 5) },
    tags: [`t${made % 10}`, `u${made % 7}`],
    const: 'same',
  };
}

export async function createWithLibrary(entities: Entities, scope: Scope): Promise<void> {
  const created = await entities.create(scope, { type, data: newCustomer(), actor });
  if (!created.ok) throw new Error(created.reason);
}

/**
 * A create without the field index and without search: it locks the type and inserts the
 * entity and its event.
 */
export async function createListOnly(db: Db, scope: Scope): Promise<void> {
  const { rows } = await db.pool.query<{ id: string }>({
    name: 'bench-list-only',
    text: `with t as (
          select no, segment, segment_floor from entity_types t
          where tenant = $1 and environment = $2::"Environment" and slug = $3
            and pg_advisory_xact_lock_shared(1, t.no) is not null for share),
        n as materialized (
          select no, segment, (greatest((extract(epoch from clock_timestamp()) * 1000)::bigint, segment_floor) << 21)
            | (nextval('entity_sequence') & 2097151) as pos from t),
        e as (
          insert into bench_entities (id, tenant, environment, part, segment, pos, status, data, created_at, updated_at)
          select 'ent_' || lpad(to_hex(pos), 16, '0') || $4, $1, $2::"Environment", no, segment, pos, 'active', $5::jsonb, pos >> 21, pos >> 21 from n
          returning *),
        event as (
          insert into events (tenant, environment, type, entity_type, entity_id, payload, actor, hops)
          select e.tenant, e.environment, 'entity.created', $3, e.id,
            jsonb_build_object('data', e.data, 'previousData', null, 'status', e.status, 'previousStatus', null), '{"type": "system"}', 0 from e)
        select id from e`,
    values: [
      scope.tenant,
      scope.environment,
      type,
      randomBytes(5).toString('hex'),
      JSON.stringify(newCustomer()),
    ],
  });
  if (rows.length !== 1) throw new Error('Not created');
}
