import { type Actor, type Json, type JsonObject, jsonObjectSchema } from '@parley/contracts';
import { readEvents, recordEvent } from '@parley/events';
import { z } from 'zod';
import { readEntityTypes } from '@parley/entities';
import { failure } from '../failure';
import type { PermittedCall } from '../tool';
import { type BuiltIn, defineBuiltIn, maxReadBytes } from './built-in';
import { checkReadable, originOf } from './entity';

/** Namespaces of events that only the product records, because triggers and people rely on them. */
const reservedNamespaces = [
  'entity',
  'payment',
  'router',
  'message',
  'email',
  'agent',
  'trigger',
  'system',
];

/**
 * Without an entity, such an event names runs, threads and entities of anyone, and
 * errors of any tool.
 */
const isOfProduct = (type: string): boolean =>
  reservedNamespaces.includes(type.split('.')[0]!.toLowerCase());

const eventType = z
  .string()
  .max(100)
  .regex(/^[a-zA-Z][\w-]*(\.[\w-]+)+$/, 'must be words joined by dots, such as "order.reviewed"');

const emit = defineBuiltIn({
  name: 'event.emit',
  description: `Records an event that people and other agents can query later. Choose a type such as "order.reviewed". These namespaces are reserved: ${reservedNamespaces.join(', ')}.`,
  sideEffects: true,
  transactional: true,
  args: z.strictObject({
    type: eventType.describe('What happened, such as "order.reviewed".'),
    payload: jsonObjectSchema.optional().meta({
      type: 'object',
      additionalProperties: true,
      description: 'Details, as any JSON object.',
    }),
    entityId: z
      .string()
      .min(1)
      .max(100)
      .optional()
      .describe('Id of the entity that the event is about.'),
  }),
  async call({ type, payload = {}, entityId }, call) {
    const { db, scope } = call;
    if (isOfProduct(type)) {
      return failure(
        'invalid_arguments',
        `Invalid arguments for event.emit: the namespace of "${type}" is reserved`,
      );
    }
    const about = entityId === undefined ? undefined : await checkReadable(call, entityId);
    if (about?.ok === false) return about;
    const event = {
      type,
      entity: about?.entity,
      payload: payload as JsonObject,
      ...originOf(call),
    };
    const eventId = await recordEvent(db, scope, event);
    return { ok: true, result: { eventId, type } };
  },
});

const query = defineBuiltIn({
  name: 'event.query',
  description:
    'Returns events as { data, cursor, hasMore }, newest first: changes of entities ("entity.created", "entity.updated", "entity.deleted"), payments ("payment.paid", …) and events of event.emit. Each has id, type, entityType, entityId, payload, actor and createdAt (Unix milliseconds).',
  sideEffects: false,
  args: z.strictObject({
    type: z.string().min(1).max(100).optional().describe('Only events of this type.'),
    entityType: z
      .string()
      .min(1)
      .max(100)
      .optional()
      .describe('Only events about entities of this type.'),
    entityId: z.string().min(1).max(100).optional().describe('Only events about this entity.'),
    since: z.number().optional().describe('Only events from this time on, in Unix milliseconds.'),
    limit: z.int().min(1).default(20).describe('At most 100.'),
    cursor: z.string().max(20).optional().describe('The cursor of the previous page.'),
  }),
  async call({ type, entityType, entityId, since, limit: asked, cursor }, call) {
    const { deps, scope } = call;
    if (cursor !== undefined && !/^[0-8]?\d{0,18}$/.test(cursor)) {
      return failure(
        'invalid_arguments',
        'Invalid arguments for event.query: cursor is not from this tool',
      );
    }
    const limit = Math.min(asked, 100);
    const visible = await visibleTypes(call);
    const filter = {
      type,
      entityType,
      entityId,
      since,
      before: cursor || undefined,
      visibleTypes: visible === null ? undefined : [...visible.keys()],
    };
    const { events, hasMore } = await readEvents(deps.db, scope, filter, limit, maxReadBytes);
    const page = events.map(({ hops: _hops, root: _root, requestId: _requestId, ...event }) => {
      const isPayloadShown =
        visible === null ||
        (event.entityType === null
          ? !isOfProduct(event.type)
          : visible.get(event.entityType) === 'all');
      return {
        ...event,
        payload: isPayloadShown ? event.payload : null,
        actor: namedActor(event.actor),
      };
    });
    const result = { data: page, cursor: page.at(-1)?.id ?? cursor ?? '', hasMore };
    return { ok: true, result: result as unknown as Json };
  },
});

/**
 * The entity types whose events an actor may see; null means all. An event holds an earlier state
 * of its entity, to which scope rules and masks cannot be applied: a type with scope rules is
 * hidden, and one with masks has no payloads. Neither have events of the product without an entity.
 */
async function visibleTypes(
  call: PermittedCall,
): Promise<Map<string, 'all' | 'no_payload'> | null> {
  const { deps, scope, permissions } = call;
  const { roles } = permissions;
  if (roles === null) return null;
  const types = await readEntityTypes(deps.db, scope);
  const isScoped = (slug: string) =>
    roles.some(({ scopeRules }) => scopeRules?.some((one) => one.entityType === slug));
  const isMasked = (slug: string) =>
    roles.some(({ fieldMasks }) => fieldMasks?.some((one) => one.entityType === slug));
  return new Map(
    types
      .filter(({ slug }) => permissions.decide('read', slug).allowed && !isScoped(slug))
      .map(({ slug }) => [slug, isMasked(slug) ? 'no_payload' : 'all']),
  );
}

/** The type and id of an actor, without its roles. */
function namedActor(actor: Actor): { type: Actor['type']; id?: string } {
  switch (actor.type) {
    case 'system':
      return actor.trigger === undefined
        ? { type: 'system' }
        : { type: 'system', id: actor.trigger };
    case 'webhook':
      return { type: 'webhook', id: actor.provider };
    case 'tool':
      return { type: 'tool', id: actor.name };
    case 'person':
      return { type: 'person', id: actor.id };
    case 'agent':
      return { type: 'agent', id: actor.slug };
    case 'user':
      // Events stored before 22 November 2026 have `apiKeyId`.
      return { type: 'user', id: actor.callerId ?? (actor as { apiKeyId?: string }).apiKeyId };
    default:
      return { type: (actor as Actor).type };
  }
}

export const eventTools: readonly BuiltIn[] = [emit, query];
