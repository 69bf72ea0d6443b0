import { z } from 'zod';
import { jsonObjectSchema } from '../../json';
import { listOf, pageQuery, time, timeInQuery } from './list';

const filter = {
  type: z
    .string()
    .min(1)
    .max(100)
    .optional()
    .describe('Only events of this type; `order.*` for all with a prefix.'),
  entityType: z
    .string()
    .min(1)
    .max(100)
    .optional()
    .describe('Only events about entities of this type.'),
  entityId: z.string().min(1).max(200).optional().describe('Only events about this entity.'),
};

const eventSchema = z.object({
  id: z.string().describe('Id of the event, derived from its time.'),
  type: z.string().describe('What happened, such as `entity.updated`.'),
  entityType: z.string().nullable().describe('Slug of the entity type that the event is about.'),
  entityId: z.string().nullable().describe('Id of the entity that the event is about.'),
  payload: jsonObjectSchema.describe(
    'Details: for a change of an entity `data` and `previousData`.',
  ),
  actor: jsonObjectSchema.describe('Who caused it: `{ type, … }`.'),
  hops: z.number().int().describe('Triggers between the first change of the chain and this event.'),
  root: z.string().nullable().describe('What began the chain of triggers. Null: this event.'),
  requestId: z.string().nullable().describe('Id of the request, as in logs.'),
  createdAt: time('When it was recorded.'),
});

export const listEventsQuerySchema = z.object({
  ...pageQuery,
  ...filter,
  since: timeInQuery('Only events from this time on.'),
});
export const eventListSchema = listOf(eventSchema);

export const followEventsQuerySchema = z.object({
  limit: pageQuery.limit,
  after: z
    .string()
    .max(40)
    .optional()
    .describe(
      'The `cursor` of the response before. Without it the response has the current position and no events.',
    ),
  ...filter,
});
export const streamEventsQuerySchema = z.object({
  after: z
    .string()
    .regex(/^\d{1,18}\.[0-8]?\d{1,18}$/, 'must be the id of an event of the stream')
    .optional()
    .describe(
      'The id of the last event that was received, for clients that cannot send `Last-Event-ID`.',
    ),
  ...filter,
});
export const eventStreamSchema = z
  .string()
  .describe(
    'Server-sent events. `data` of each is an event, `id` its position. The event `resync` says that the position was unknown and that events may be missing.',
  );

export const followedEventsSchema = z.object({
  data: z
    .array(eventSchema)
    .describe('The next events, each once, in the order of their transactions.'),
  cursor: z.string().describe('Send it as `after` to get the next events.'),
});
