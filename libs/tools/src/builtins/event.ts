import { type Actor, type Json, type JsonObject, jsonObjectSchema } from '@parley/contracts';
import { readEvents, recordEvent } from '@parley/events';
import { z } from 'zod';
import { readEntityTypes, typeOfEntity } from '@parley/entities';
import { failure } from '../failure';
import type { PermittedCall } from '../tool';
import { type BuiltIn, defineBuiltIn } from './built-in';
import { denyUnreadable } from './entity';

/** Namespaces in which only the product itself speaks: triggers and people rely on what such events say. */
const ownNamespaces = ['entity', 'payment', 'router', 'message', 'email', 'agent', 'trigger', 'system'];

const eventType = z
  .string()
  .max(100)
  .regex(/^[a-zA-Z][\w-]*(\.[\w-]+)+$/, 'must be words joined by dots, such as "order.reviewed"');

const emit = defineBuiltIn({
  name: 'event.emit',
  description: `Records that something happened, as an event that people and other agents can query later. The type is a name of your own such as "order.reviewed"; these namespaces are taken: ${ownNamespaces.join(', ')}.`,
  sideEffects: true,
  transactional: true,
  needs: { action: 'execute' },
  args: z.strictObject({
    type: eventType.describe('What happened, such as "order.reviewed".'),
    payload: jsonObjectSchema
      .optional()
      .meta({ type: 'object', additionalProperties: true, description: 'Details, any JSON object.' }),
    entityId: z.string().min(1).max(100).optional().describe('Id of the entity that it is about.'),
  }),
  async call({ type, payload = {}, entityId }, call) {
    const { db, scope, actor, context } = call;
    if (ownNamespaces.includes(type.split('.')[0]!.toLowerCase())) {
      return failure('invalid_arguments', `Invalid arguments for event.emit: the namespace of "${type}" is taken`);
    }
    const entityType = entityId === undefined ? null : await typeOfEntity(db, scope, entityId);
    if (entityId !== undefined && entityType === null) return failure('not_found', 'Entity not found');
    if (entityId !== undefined) {
      const denial = await denyUnreadable(call, entityType!, entityId);
      if (denial !== null) return denial;
    }

    const { hops, requestId } = context;
    const entity = entityId === undefined ? undefined : { type: entityType!, id: entityId };
    const event = { type, entity, payload: payload as JsonObject, actor, hops, requestId };
    const eventId = await recordEvent(db, scope, event);
    return { ok: true, result: { eventId, type } };
  },
});

const query = defineBuiltIn({
  name: 'event.query',
  description:
    'Returns { data, cursor, hasMore } of events, newest first: changes of entities ("entity.created", "entity.updated", "entity.deleted"), payments ("payment.paid", …) and recorded ones. Each has id, type, entityType, entityId, payload, actor and createdAt (Unix milliseconds).',
  sideEffects: false,
  needs: { action: 'execute' },
  args: z.strictObject({
    type: z.string().min(1).max(100).optional().describe('Only events of this type.'),
    entityType: z.string().min(1).max(100).optional().describe('Only events about entities of this type.'),
    entityId: z.string().min(1).max(100).optional().describe('Only events about this entity.'),
    since: z.number().optional().describe('Only events from this time on, in Unix milliseconds.'),
    limit: z.int().min(1).default(20).describe('At most 100.'),
    cursor: z.string().max(20).optional().describe('The cursor of the page before.'),
  }),
  async call({ type, entityType, entityId, since, limit: asked, cursor }, call) {
    const { deps, scope } = call;
    if (cursor !== undefined && !/^[0-8]?\d{0,18}$/.test(cursor)) {
      return failure('invalid_arguments', 'Invalid arguments for event.query: cursor is not one of this tool');
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
    const events = await readEvents(deps.db, scope, filter, limit + 1);
    const page = events.slice(0, limit).map(({ hops: _hops, requestId: _requestId, ...event }) => {
      const isPayloadShown = event.entityType === null || visible === null || visible.get(event.entityType) === 'all';
      return { ...event, payload: isPayloadShown ? event.payload : null, actor: namedActor(event.actor) };
    });
    const result = { data: page, cursor: page.at(-1)?.id ?? cursor ?? '', hasMore: events.length > limit };
    return { ok: true, result: result as unknown as Json };
  },
});

/**
 * The entity types whose events an actor may see; null when all. An event tells what an entity was, whatever it is now,
 * so events of a type with scope rules stay hidden, and those of a type with masks come without their payload.
 */
async function visibleTypes({
  deps,
  scope,
  permissions,
}: PermittedCall): Promise<Map<string, 'all' | 'no_payload'> | null> {
  const { roles } = permissions;
  if (roles === null) return null;
  const types = await readEntityTypes(deps.db, scope);
  const isScoped = (slug: string) => roles.some(({ scopeRules }) => scopeRules?.some((one) => one.entityType === slug));
  const isMasked = (slug: string) => roles.some(({ fieldMasks }) => fieldMasks?.some((one) => one.entityType === slug));
  return new Map(
    types
      .filter(({ slug }) => permissions.decide('read', slug).allowed && !isScoped(slug))
      .map(({ slug }) => [slug, isMasked(slug) ? 'no_payload' : 'all']),
  );
}

/** Who did something, without what it was allowed to do. */
function namedActor(actor: Actor): { type: Actor['type']; id?: string } {
  switch (actor.type) {
    case 'system':
      return actor.trigger === undefined ? { type: 'system' } : { type: 'system', id: actor.trigger };
    case 'webhook':
      return { type: 'webhook', id: actor.provider };
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
