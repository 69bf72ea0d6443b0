import {
  eventListSchema,
  followEventsQuerySchema,
  eventStreamSchema,
  followedEventsSchema,
  streamEventsQuerySchema,
  listEventsQuerySchema,
} from '../../http/manage/events';
import { defineOperations, get } from '../operation';

const member = { people: 'member', rateLimited: true } as const;
const table = {
  listEvents: get('/v1/events', 'manage', member),
  followEvents: get('/v1/events/next', 'manage', member),
  // Not begun before the rate limit has been checked.
  streamEvents: get('/v1/events/stream', 'manage', { ...member, readOnly: false }),
};

const event = {
  id: '3698432093388800',
  type: 'entity.created',
  entityType: 'order',
  entityId: 'ent_01',
  payload: { data: { total: 24990 } },
  actor: { type: 'agent', slug: 'sales' },
  hops: 0,
  root: null,
  requestId: 'req_01',
  createdAt: 1763683200000,
};

export const eventOperations = defineOperations('Operations', table, {
  listEvents: {
    summary: 'List events',
    description:
      'Changes of entities, payments and events of tools, newest first. A page with large payloads has fewer events.',
    query: listEventsQuerySchema,
    response: eventListSchema,
    errors: { 400: [['invalid_cursor', 'The cursor is invalid or belongs to another list']] },
    example: { response: { data: [event], cursor: 'c1.WyI…', hasMore: false } },
  },
  followEvents: {
    summary: 'Retrieve the next events',
    description:
      'For programs that process every event once: a response contains no event before which another one can still be committed.',
    query: followEventsQuerySchema,
    response: followedEventsSchema,
    errors: {
      400: [['invalid_cursor', 'The cursor is invalid or belongs to another list']],
      409: [
        [
          'resync',
          'The position is unknown, because the database was restored. Begin without a cursor',
        ],
      ],
    },
    example: { response: { data: [event], cursor: '771.3698432093388800' } },
  },
  streamEvents: {
    summary: 'Stream events',
    description:
      'The new events as server-sent events, each once, within a second. A client that connects again with `Last-Event-ID` gets the events in between. A payload of more than 128 KiB is left out, which `isTruncated: true` says: `GET /v1/events/next` with the `id` before it as `after` returns it. A comment is sent every 15 seconds; a stream ends about a second after its key, session or membership does, and after an hour.',
    query: streamEventsQuerySchema,
    headers: { 'Last-Event-ID': 'The `id` of the last event that was received.' },
    response: eventStreamSchema,
    responseType: 'text/event-stream',
    errors: {
      429: [
        [
          'too_many_streams',
          'Too many streams and waits of the key, person or organization are open',
        ],
      ],
    },
    example: {
      response:
        'id: 771.3698432093388800\nevent: entity.created\ndata: {"id":"3698432093388800"}\n\n',
    },
  },
});
