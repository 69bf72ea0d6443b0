import { type Origin, insertEventSql } from '@parley/events';
import type { Sql } from '../sql';

export type EntityEvent = 'entity.created' | 'entity.updated' | 'entity.deleted';

/** The insert of an entity's event, for the entity that `from` names in the same statement. Returns whether it `waits`. */
export const entityEventSql = (
  event: EntityEvent,
  origin: Origin & { type: string },
  { from, payload, waits, sql }: { from: string; payload: string; waits: string; sql: Sql },
): string =>
  `${insertEventSql(
    {
      // It grows strictly with every change of the entity, whatever the clock does.
      id: `time_id(${from}.updated_at)`,
      tenant: sql.tenant,
      environment: `${from}.environment`,
      type: sql.param(event, 'text'),
      entityType: sql.param(origin.type, 'text'),
      entityId: `${from}.id`,
      payload,
      actor: sql.param(JSON.stringify(origin.actor), 'jsonb'),
      hops: sql.param(origin.hops ?? 0, 'int'),
      requestId: sql.param(origin.requestId ?? null, 'text'),
      waits,
    },
    `from ${from}`,
  )} returning relayed_at is null as waits`;
