import { type Json, type JsonObject, textAt } from '@parley/contracts';
import type { Db } from '@parley/db';
import { type StoredEvent, followEvents, readEvents } from '@parley/events';
import {
  type CallerContext,
  type EventStreams,
  type Handler,
  type Logger,
  badRequest,
  conflict,
} from '@parley/service';
import { createEventFeeds } from '../event-feeds';
import { pageOf, timeId } from '../page';

interface Handlers {
  listEvents: Handler<'listEvents'>;
  followEvents: Handler<'followEvents'>;
  streamEvents: Handler<'streamEvents'>;
}

const cursorPattern = /^\d{1,18}\.[0-8]?\d{1,18}$/;

export function createEventHandlers({
  db,
  log,
  streams,
}: {
  db: Db;
  log: Logger;
  streams: EventStreams;
}): Handlers {
  const feeds = createEventFeeds(db, (error) =>
    log.warn({ err: error }, 'events could not be read for streams'),
  );

  return {
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
        throw badRequest(
          'The cursor is invalid or belongs to another list',
          undefined,
          'invalid_cursor',
        );
      const next = await followEvents(db, scope, filter, after ?? null, limit);
      if (!next.ok)
        throw conflict(
          'The position is unknown, because the database was restored. Begin without a cursor',
          'resync',
        );
      return {
        data: next.events.map(({ cursor: _, ...event }) => toEvent(event)),
        cursor: next.cursor,
      };
    },

    async streamEvents({ query: { after, ...filter } }, context) {
      const sent = lastEventIdOf(context);
      const isKnown = sent === undefined || cursorPattern.test(sent);
      const matches = matcherOf(filter);
      let position: string | undefined;
      const stream = streams.open(context, () => position);
      try {
        const reader = await feeds.open(
          context.scope,
          isKnown ? (sent ?? after ?? null) : null,
          stream.signal,
        );
        // The client connects again from here, also when it has received no event.
        await stream.send({ id: (position = reader.position()), event: 'open', data: {} });
        if (!isKnown) await stream.send({ event: 'resync', data: {} });
        while (!stream.signal.aborted) {
          const next = await reader.next();
          if (next === 'resync')
            await stream.send({ id: reader.position(), event: 'resync', data: {} });
          else
            for (const { cursor, ...event } of next)
              if (matches(event))
                await stream.send({
                  id: cursor,
                  event: event.type,
                  data: toEvent(event) as unknown as Json,
                });
          position = reader.position();
        }
      } catch (error) {
        // The client connects again, and the request is answered with an error if the database is
        // still unavailable.
        log.warn({ err: error }, 'a stream of events was ended');
      } finally {
        stream.end();
      }
      return null;
    },
  };
}

const lastEventIdOf = ({ request }: CallerContext): string | undefined =>
  textAt(request.headers['last-event-id']);

function matcherOf({
  type,
  entityType,
  entityId,
}: {
  type?: string;
  entityType?: string;
  entityId?: string;
}) {
  const prefix = type?.endsWith('.*') ? type.slice(0, -1) : undefined;
  return (event: StoredEvent) =>
    (type === undefined ||
      event.type === type ||
      (prefix !== undefined && event.type.startsWith(prefix))) &&
    (entityType === undefined || event.entityType === entityType) &&
    (entityId === undefined || event.entityId === entityId);
}

const toEvent = ({ actor, ...event }: StoredEvent) => ({
  ...event,
  actor: actor as unknown as JsonObject,
});
