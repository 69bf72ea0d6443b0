import type { JsonObject } from '@parley/contracts';
import type { Db } from '@parley/db';
import { type StoredEvent, followEvents, readEvents } from '@parley/events';
import { type Handler, badRequest, conflict } from '@parley/service';
import { pageOf, timeId } from '../page';

interface Handlers {
  listEvents: Handler<'listEvents'>;
  followEvents: Handler<'followEvents'>;
}

const cursorPattern = /^\d{1,18}\.[0-8]?\d{1,18}$/;

export const createEventHandlers = ({ db }: { db: Db }): Handlers => ({
  async listEvents({ query }, { scope }) {
    const { page, answer } = pageOf('events', scope, query, timeId);
    const { type, entityType, entityId, since } = query;
    const filter = { type, entityType, entityId, since, before: page.before?.id };
    const { events, hasMore } = await readEvents(db, scope, filter, page.limit);
    const end = events.at(-1);
    const last = end === undefined ? null : { at: new Date(end.createdAt), id: end.id };
    return answer({ items: events, next: hasMore ? '' : null, last }, toEvent);
  },

  async followEvents({ query: { limit, after, ...filter } }, { scope }) {
    if (after !== undefined && !cursorPattern.test(after))
      throw badRequest('The cursor is invalid or belongs to another list', undefined, 'invalid_cursor');
    const next = await followEvents(db, scope, filter, after ?? null, limit);
    if (!next.ok)
      throw conflict('The position is unknown, because the database was restored. Begin without a cursor', 'resync');
    return { data: next.events.map(toEvent), cursor: next.cursor };
  },
});

const toEvent = ({ actor, ...event }: StoredEvent) => ({ ...event, actor: actor as unknown as JsonObject });
