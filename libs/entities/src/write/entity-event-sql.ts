import { type Origin, insertEventSql } from '@parley/events';
import type { Sql } from '../sql';

export type EntityEvent = 'entity.created' | 'entity.updated' | 'entity.deleted';

/** SQL that inserts the event of the entity in the CTE `from`. Returns `waits`: whether the event waits for the relay. */
export const entityEventSql = (
  event: EntityEvent,
  origin: Origin & { type: string },
  { from, payload, waits, sql }: { from: string; payload: string; waits: string; sql: Sql },
): string =>
  `${insertEventSql(
    {
      // `updated_at` increases with every change of the entity, even if the clock is set back.
      id: `time_id(${from}.updated_at)`,
      tenant: sql.tenant,
      environment: `${from}.environment`,
      type: sql.param(event, 'text'),
      entityType: sql.param(origin.type, 'text'),
      entityId: `${from}.id`,
      payload,
      actor: sql.param(JSON.stringify(origin.actor), 'jsonb'),
      hops: sql.param(origin.hops ?? 0, 'int'),
      root: sql.param(origin.root ?? null, 'text'),
      requestId: sql.param(origin.requestId ?? null, 'text'),
      waits,
    },
    `from ${from}`,
  )} returning relayed_at is null as waits`;
