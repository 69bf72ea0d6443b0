import { type Origin, insertEventSql } from '@parley/events';
import type { Sql } from '../sql';

export type EntityEvent = 'entity.created' | 'entity.updated' | 'entity.deleted';

/** SQL expressions for the origin of an event. */
type OriginSql = Record<keyof Origin, string>;

export const originSql = ({ actor, hops = 0, root, requestId }: Origin, sql: Sql): OriginSql => ({
  actor: sql.param(JSON.stringify(actor), 'jsonb'),
  hops: sql.param(hops, 'int'),
  root: sql.param(root ?? null, 'text'),
  requestId: sql.param(requestId ?? null, 'text'),
});

interface EntityEventSql {
  event: EntityEvent;
  /** Slug of the entity's type. */
  type: string;
  /** Alias of the entity in `source`. */
  entity: string;
  /** `from …` */
  source: string;
  payload: string;
  origin: OriginSql;
  waits: string;
}

/**
 * SQL that inserts an event for each entity of `source`. Returns `waits`: whether the event
 * waits for the relay.
 */
export const entityEventSql = (
  { event, type, entity, source, payload, origin, waits }: EntityEventSql,
  sql: Sql,
): string =>
  `${insertEventSql(
    {
      // `updated_at` increases with every change of the entity, even if the clock is set back.
      id: `time_id(${entity}.updated_at)`,
      tenant: sql.tenant,
      environment: `${entity}.environment`,
      type: sql.param(event, 'text'),
      entityType: sql.param(type, 'text'),
      entityId: `${entity}.id`,
      payload,
      ...origin,
      waits,
    },
    source,
  )} returning relayed_at is null as waits`;
