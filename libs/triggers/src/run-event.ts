import { insertEventSql } from '@parley/events';

/**
 * What began the chain of a run: an id of an event, or of a run that a schedule or a request
 * started. `row`: `r.` or empty.
 */
export const rootSql = (row: string): string =>
  `coalesce(${row}root, ${row}event_id::text, ${row}id)`;

/**
 * Inserts a `trigger.succeeded` or `trigger.failed` event for each ended run of `source`
 * (`from … r where …`).
 */
export const insertRunEventSql = (source: string): string =>
  insertEventSql(
    {
      tenant: 'r.tenant',
      environment: 'r.environment',
      type: `case when r.status = 'succeeded' then 'trigger.succeeded' else 'trigger.failed' end`,
      payload: `jsonb_build_object('runId', r.id, 'triggerSlug', r.trigger_slug, 'entityId', r.entity_id,
        'attempts', r.attempts, 'error', r.error)`,
      actor: `jsonb_strip_nulls(jsonb_build_object('type', 'system', 'trigger', r.trigger_slug, 'by', r.author))`,
      hops: 'r.hops',
      root: rootSql('r.'),
      requestId: 'r.request_id',
    },
    source,
  );
