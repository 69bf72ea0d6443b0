import { z } from 'zod';
import {
  createEntityBodySchema,
  deletedBodySchema,
  entityListSchema,
  entityPageSchema,
  entitySchema,
  entityTypeListSchema,
  listEntitiesQuerySchema,
  queryEntitiesBodySchema,
  searchEntitiesBodySchema,
  updateEntityBodySchema,
} from '../http/data';
import { type ErrorExample, defineOperations, get, patch, post, remove } from './operation';

const table = {
  listEntityTypes: get('/v1/entity-types', 'data', { rateLimited: true }),
  listEntities: get('/v1/data/:type', 'data', { rateLimited: true }),
  getEntity: get('/v1/data/:type/:id', 'data', { rateLimited: true }),
  createEntity: post('/v1/data/:type', 'data', { rateLimited: true, idempotent: true }),
  queryEntities: post('/v1/data/:type/query', 'data', { rateLimited: true, readOnly: true }),
  searchEntities: post('/v1/data/:type/search', 'data', { rateLimited: true, readOnly: true }),
  updateEntity: patch('/v1/data/:type/:id', 'data', { rateLimited: true }),
  deleteEntity: remove('/v1/data/:type/:id', 'data', { rateLimited: true }),
};

/** Any text may be asked for: what is not the slug of a type is simply not found. */
const typeParams = z.object({ type: z.string() });
const entityParams = z.object({ type: z.string(), id: z.string() });

const entity = {
  id: 'entity_01k9',
  type: 'product',
  status: 'active',
  data: { name: 'Dome tent', price: 249, tags: ['tent', 'two persons'] },
  createdAt: 1763683200000,
  updatedAt: 1763683200000,
};
const page = { data: [entity], cursor: 'eyJ2IjoxfQ', hasMore: false };

const unknownType = ['entity_type_not_found', 'Entity type product not found'] as const;
const unknown = {
  404: [['entity_not_found', 'Entity not found'], ['entity_deleted', 'Entity has been deleted'], unknownType],
} satisfies Record<number, readonly ErrorExample[]>;
const denied = ['permission_denied', "Permission denied: cannot perform 'read' on 'product'"] as const;
const outOfScope = ['out_of_scope', 'Entity not accessible within scope'] as const;
const masked = ['masked_field', "Field data.price is not accessible to the key's role"] as const;
const badCursor = ['invalid_query', 'cursor is broken or belongs to another query'] as const;
const badLimit = ['invalid_query', 'limit must be a whole number of at least 1'] as const;
const invalidData = ['invalid_body', 'data.price: must be a number'] as const;

export const dataOperations = defineOperations('Data', table, {
  listEntityTypes: {
    summary: 'List entity types',
    description: 'Those that the key may read; each schema as the flat map of field to type name.',
    response: entityTypeListSchema,
    example: {
      response: {
        data: [
          { slug: 'product', name: 'Product', schema: { name: 'string', price: 'number' }, searchFields: ['name'] },
        ],
      },
    },
  },
  listEntities: {
    summary: 'List entities, newest first',
    params: typeParams,
    query: listEntitiesQuerySchema,
    response: entityPageSchema,
    errors: { 400: [badLimit, badCursor], 403: [denied], 404: [unknownType] },
    example: { response: page },
  },
  getEntity: {
    summary: 'Get an entity',
    params: entityParams,
    response: entitySchema,
    errors: { ...unknown, 403: [denied, outOfScope] },
    example: { response: entity },
  },
  createEntity: {
    summary: 'Create an entity',
    params: typeParams,
    body: createEntityBodySchema,
    status: 201,
    response: entitySchema,
    errors: { 400: [invalidData], 403: [denied, outOfScope, masked], 404: [unknownType] },
    example: { body: { data: entity.data }, response: entity },
  },
  queryEntities: {
    summary: 'Filtered query',
    description:
      'A filter is a literal (exact match, `null` matches null or absent) or an object of operators: `$eq $ne $neq $in $nin $gt $gte $lt $lte $contains $exists`. Domain fields are `data.<field>`, at any depth; top-level fields are `id`, `createdAt` and `updatedAt`. The lifecycle `status` is asked for beside the filters.',
    params: typeParams,
    body: queryEntitiesBodySchema,
    bodyOptional: true,
    response: entityPageSchema,
    errors: {
      400: [
        [
          'invalid_body',
          '"price" is no field that can be filtered by. Use data.<fieldName> for the entity\'s own fields',
        ],
        ['invalid_body', 'unknown operator $like'],
      ],
      403: [denied, masked],
      404: [unknownType],
    },
    example: {
      body: { filters: { 'data.price': { $lt: 300 }, 'data.tags': { $contains: 'tent' } }, limit: 20 },
      response: page,
    },
  },
  searchEntities: {
    summary: 'Full-text search',
    description: "Over the type's `searchFields`, best matches first: every word must match, the last one as a prefix.",
    params: typeParams,
    body: searchEntitiesBodySchema,
    response: entityListSchema,
    errors: { 400: [['invalid_body', 'query is required']], 403: [denied], 404: [unknownType] },
    example: { body: { query: 'dome te' }, response: { data: [entity] } },
  },
  updateEntity: {
    summary: 'Update an entity',
    description: '`data` is merged at its top level; a `status` also restores a deleted entity.',
    params: entityParams,
    body: updateEntityBodySchema,
    response: entitySchema,
    errors: { ...unknown, 400: [invalidData], 403: [denied, outOfScope, masked] },
    example: {
      body: { data: { price: 229 } },
      response: { ...entity, data: { ...entity.data, price: 229 }, updatedAt: 1763686800000 },
    },
  },
  deleteEntity: {
    summary: 'Soft-delete an entity',
    description: 'It leaves lists, queries and searches. Again is as good.',
    params: entityParams,
    response: deletedBodySchema,
    errors: { ...unknown, 403: [denied, outOfScope] },
    example: { response: { success: true } },
  },
});
