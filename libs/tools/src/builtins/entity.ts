import { type Json, jsonObjectSchema } from '@parley/contracts';
import { type Access, type EntityFailure, failureText, typeOfEntity } from '@parley/entities';
import { z } from 'zod';
import { accessWith } from '@parley/permissions';
import { denied, failure } from '../failure';
import type { PermittedCall } from '../tool';
import type { ToolErrorType, ToolFailure, ToolResult } from '../types';
import { type BuiltIn, defineBuiltIn, maxReadBytes } from './built-in';

const type = z.string().min(1).max(100).describe('Slug of the entity type, such as "order".');
const optionalType = type
  .optional()
  .describe('Slug of the entity type. Optional, because the id determines it.');
const id = z.string().min(1).max(100).describe('Id of the entity.');
const status = z.string().min(1).max(64);
const data = (description: string) =>
  jsonObjectSchema.meta({ type: 'object', additionalProperties: true, description });
const limit = (fallback: number) =>
  z
    .int()
    .min(1)
    .default(fallback)
    .transform((value) => Math.min(value, 100))
    .describe('Maximum number of entities, at most 100.');
const relation = z
  .string()
  .regex(/^[a-zA-Z][\w-]{0,63}$/, 'must be a word such as "payment_for"')
  .describe('Name of the relation, such as "payment_for".');

const entityShape =
  'An entity is { id, type, status, data, createdAt, updatedAt }; times are Unix milliseconds.';

const create = defineBuiltIn({
  name: 'entity.create',
  description: `Creates an entity and returns it. ${entityShape}`,
  sideEffects: true,
  transactional: true,
  needs: { action: 'create' },
  args: z.strictObject({
    type,
    data: data('The fields of the new entity.'),
    status: status.optional().describe('Lifecycle status. Default: "active".'),
  }),
  async call(args, call) {
    const input = { ...args, ...(await withAccess(call)), ...originOf(call) };
    const result = await call.deps.entities.create(call.scope, input, call.tx);
    return result.ok ? json(result.entity.json) : failed(result, args.type);
  },
});

const get = defineBuiltIn({
  name: 'entity.get',
  description: `Returns one entity by its id. ${entityShape}`,
  sideEffects: false,
  needs: { action: 'read', entityIdIn: 'id' },
  args: z.strictObject({ type: optionalType, id }),
  async call(args, call) {
    const type = call.entityType!;
    const result = await call.deps.entities.get(call.scope, {
      type,
      id: args.id,
      ...(await withAccess(call)),
    });
    return result.ok ? json(result.entity.json) : failed(result, type);
  },
});

const query = defineBuiltIn({
  name: 'entity.query',
  description: [
    'Finds entities by exact conditions and returns { data: [entity], cursor, hasMore }, newest first.',
    entityShape,
    'Filters name fields as "data.<field>", or id, createdAt, updatedAt. An entity must match all of them. A value means equality:',
    '{"data.status": "open"}. Operators: {"data.total": {"$gte": 10, "$lt": 50}}, {"data.city": {"$in": ["Lima"]}};',
    'the operators are $eq, $ne, $in, $nin, $gt, $gte, $lt, $lte, $contains (part of a text, or an item of a list) and',
    '$exists (true or false). Compare numbers with numbers and texts with texts.',
  ].join(' '),
  sideEffects: false,
  needs: { action: 'list' },
  args: z.strictObject({
    type,
    filters: data(
      'Conditions by field, such as {"data.status": "open"}. Default: all entities.',
    ).optional(),
    status: status
      .optional()
      .describe('Lifecycle status, such as "active". Default: every status except "deleted".'),
    sort: z
      .strictObject({
        field: z.string().min(1).max(200).describe('createdAt, updatedAt, id or "data.<field>".'),
        direction: z.enum(['asc', 'desc']).default('desc').describe('Direction of the sort.'),
      })
      .optional()
      .describe('Order of the result. Default: newest first.'),
    limit: limit(50),
    cursor: z
      .string()
      .max(4_000)
      .optional()
      .describe('The cursor of the previous page, to read the next one.'),
  }),
  async call(args, call) {
    const result = await call.deps.entities.query(call.scope, {
      ...args,
      ...(await withAccess(call)),
      maxBytes: maxReadBytes,
    });
    return result.ok ? json(result.page.json) : failed(result, args.type);
  },
});

const search = defineBuiltIn({
  name: 'entity.search',
  description: `Finds entities by words in their text and returns { data: [entity] }, best matches first. All words must occur. The last one may be the beginning of a word. ${entityShape}`,
  sideEffects: false,
  needs: { action: 'list' },
  args: z.strictObject({
    type,
    query: z.string().min(1).max(1_000).describe('The words to look for.'),
    status: status.optional().describe('Lifecycle status. Default: every status except "deleted".'),
    limit: limit(20),
  }),
  async call(args, call) {
    const result = await call.deps.entities.search(call.scope, {
      ...args,
      ...(await withAccess(call)),
      maxBytes: maxReadBytes,
    });
    return result.ok ? json(result.list.json) : failed(result, args.type);
  },
});

const update = defineBuiltIn({
  name: 'entity.update',
  description: `Changes an entity and returns it. The given fields replace those of the entity and all others stay. null sets a field to null. ${entityShape}`,
  sideEffects: true,
  transactional: true,
  needs: { action: 'update', entityIdIn: 'id' },
  args: z
    .strictObject({
      type: optionalType,
      id,
      data: data('The fields to change.').optional(),
      status: status.optional().describe('New lifecycle status.'),
    })
    .refine(
      ({ data, status }) => data !== undefined || status !== undefined,
      'data or status is required',
    ),
  async call(args, call) {
    const type = call.entityType!;
    // A change of the status can delete or restore the entity, which requires the
    // permission to delete.
    const deletion = call.permissions.decide('delete', type);
    const denial = deletion.allowed ? null : denied(deletion);
    const input = {
      ...args,
      type,
      ...(await withAccess(call)),
      ...originOf(call),
      mayDelete: denial === null,
    };
    const result = await call.deps.entities.update(call.scope, input, call.tx);
    if (result.ok) return json(result.entity.json);
    return result.reason === 'delete_denied' ? denial! : failed(result, type);
  },
});

const remove = defineBuiltIn({
  name: 'entity.delete',
  description:
    'Deletes an entity, which then no longer appears in results. Returns { success: true }.',
  sideEffects: true,
  transactional: true,
  needs: { action: 'delete', entityIdIn: 'id' },
  args: z.strictObject({ type: optionalType, id }),
  async call(args, call) {
    const type = call.entityType!;
    const input = { type, id: args.id, ...(await withAccess(call)), ...originOf(call) };
    const result = await call.deps.entities.remove(call.scope, input, call.tx);
    return result.ok ? done : failed(result, type);
  },
});

const ends = {
  fromId: z.string().min(1).max(100).describe('Id of the entity that the relation starts from.'),
  relation,
  toId: z.string().min(1).max(100).describe('Id of the entity that it points to.'),
};

const link = defineBuiltIn({
  name: 'entity.link',
  description:
    'Relates two entities by a named relation. Nothing changes when the relation exists already. Returns { success: true }.',
  sideEffects: true,
  transactional: true,
  needs: { action: 'update', entityIdIn: 'fromId' },
  args: z.strictObject(ends),
  async call(args, call) {
    const denial = await checkEnds(args, call);
    if (denial !== null) return denial;
    const result = await call.deps.entities.link(call.scope, args, call.tx);
    return result.ok ? done : failed(result, call.entityType!);
  },
});

const unlink = defineBuiltIn({
  name: 'entity.unlink',
  description:
    'Ends a relation between two entities. It is not an error when there is none. Returns { success: true }.',
  sideEffects: true,
  transactional: true,
  needs: { action: 'update', entityIdIn: 'fromId' },
  args: z.strictObject(ends),
  async call(args, call) {
    const denial = await checkEnds(args, call);
    if (denial !== null) return denial;
    await call.deps.entities.unlink(call.scope, args, call.tx);
    return done;
  },
});

export const entityTools: readonly BuiltIn[] = [
  create,
  get,
  query,
  search,
  update,
  remove,
  link,
  unlink,
];

/**
 * The caller must be permitted to read the type of `toId`, and both entities must be within
 * its scope rules.
 */
async function checkEnds(
  { fromId, toId }: { fromId: string; toId: string },
  call: PermittedCall,
): Promise<ToolFailure | null> {
  const to = await checkReadable(call, toId);
  return to.ok ? denyUnseen(call, call.entityType!, fromId) : to;
}

/**
 * Returns an entity by its id with its type, or the failure when it does not exist or the caller
 * may not read it.
 */
export async function checkReadable(
  call: PermittedCall,
  id: string,
): Promise<{ ok: true; entity: { type: string; id: string } } | ToolFailure> {
  const type = await typeOfEntity(call.db, call.scope, id);
  if (type === null) return failure('not_found', 'Entity not found');
  return (await denyUnreadable(call, type, id)) ?? { ok: true, entity: { type, id } };
}

/** The failure when the caller may not read an entity; null when it may. */
export async function denyUnreadable(
  call: PermittedCall,
  type: string,
  id: string,
): Promise<ToolFailure | null> {
  const decision = call.permissions.decide('read', type);
  return decision.allowed ? denyUnseen(call, type, id) : denied(decision);
}

async function denyUnseen(
  call: PermittedCall,
  type: string,
  id: string,
): Promise<ToolFailure | null> {
  const found = await call.deps.entities.get(
    call.scope,
    { type, id, ...(await withAccess(call, type)) },
    call.tx,
  );
  return found.ok ? null : failed(found, type);
}

/** The entities of a type, and the fields of them, that the caller may see. */
export async function withAccess(
  call: PermittedCall,
  type = call.entityType!,
): Promise<{ access?: Access }> {
  const access = await accessWith(call.db, call.scope, call.actor, call.permissions, type);
  return access === undefined ? {} : { access };
}

export const originOf = ({ actor, context: { hops, root, requestId } }: PermittedCall) => ({
  actor,
  hops,
  root,
  requestId,
});

/** Parses the JSON text of entities that PostgreSQL produced. */
const json = (text: string): ToolResult => ({ ok: true, result: JSON.parse(text) as Json });

const done: ToolResult = { ok: true, result: { success: true } };

const errorTypes: Record<EntityFailure['reason'], ToolErrorType> = {
  type_not_found: 'not_found',
  not_found: 'not_found',
  deleted: 'not_found',
  out_of_scope: 'permission_denied',
  masked_field: 'permission_denied',
  too_large: 'invalid_arguments',
  invalid: 'invalid_arguments',
};

function failed(result: EntityFailure, type: string): ToolFailure {
  const errorType = errorTypes[result.reason];
  const text = failureText(result, type);
  return failure(
    errorType,
    errorType === 'invalid_arguments' ? `Invalid arguments: ${text}` : text,
  );
}
