import { z } from 'zod';
import {
  changeEntitiesBodySchema,
  createEntityBodySchema,
  deletedBodySchema,
  entityListSchema,
  entityPageSchema,
  entityRelationListSchema,
  entitySchema,
  entityTypeListSchema,
  listEntitiesQuerySchema,
  listEntityRelationsQuerySchema,
  maxBulkOperations,
  operationResultsSchema,
  queryEntitiesBodySchema,
  searchEntitiesBodySchema,
  updateEntityBodySchema,
} from '../http/data';
import {
  type ErrorExample,
  defineOperations,
  get,
  mebibyte,
  patch,
  post,
  remove,
} from './operation';

/** Each change has an event, which names the caller. */
const change = { people: 'member', isAudited: false, rateLimited: true } as const;
const table = {
  listEntityTypes: get('/v1/entity-types', 'data', { people: 'member', rateLimited: true }),
  listEntities: get('/v1/data/:type', 'data', { people: 'member', rateLimited: true }),
  getEntity: get('/v1/data/:type/:id', 'data', { people: 'member', rateLimited: true }),
  listEntityRelations: get('/v1/data/:type/:id/relations', 'data', {
    people: 'member',
    rateLimited: true,
  }),
  createEntity: post('/v1/data/:type', 'data', { ...change, idempotent: true }),
  queryEntities: post('/v1/data/:type/query', 'data', {
    people: 'member',
    rateLimited: true,
    readOnly: true,
  }),
  searchEntities: post('/v1/data/:type/search', 'data', {
    people: 'member',
    rateLimited: true,
    readOnly: true,
  }),
  changeEntities: post('/v1/data/:type/bulk', 'data', {
    ...change,
    idempotent: true,
    bodyLimitBytes: 8 * mebibyte,
  }),
  updateEntity: patch('/v1/data/:type/:id', 'data', change),
  deleteEntity: remove('/v1/data/:type/:id', 'data', change),
};

/**
 * Any text is accepted here: a text that is not the slug of a type is answered with 404, not 400.
 */
const typeParams = z.object({ type: z.string().describe('Slug of the entity type.') });
const entityParams = typeParams.extend({ id: z.string().describe('Id of the entity.') });

const entity = {
  id: 'ent_344094610180001flsb0zoofo3',
  type: 'product',
  status: 'active',
  data: { name: 'Dome tent', price: 249, tags: ['tent', 'two persons'] },
  createdAt: 1763683200000,
  updatedAt: 1763683200000,
};
const page = { data: [entity], cursor: 'c1.WyJ3U3RqIl0', hasMore: false };

const unknownType = ['entity_type_not_found', 'Entity type product not found'] as const;
const unknown = {
  404: [
    ['entity_not_found', 'Entity not found'],
    ['entity_deleted', 'Entity has been deleted'],
    unknownType,
  ],
} satisfies Record<number, readonly ErrorExample[]>;
const denied = [
  'permission_denied',
  "Permission denied: cannot perform 'read' on 'product'",
] as const;
const outOfScope = ['out_of_scope', 'Entity not accessible within scope'] as const;
const masked = [
  'masked_field',
  "Permission denied: field 'data.price' of 'product' is masked",
] as const;
const badCursor = ['invalid_query', 'cursor is broken or belongs to another query'] as const;
const badLimit = ['invalid_query', 'limit must be a whole number of at least 1'] as const;
const tooManyCounts = [
  'too_many_counts',
  'Too many counts of the organization are running at the same time',
] as const;
const tooLarge = [
  'data_too_large',
  'data would have 1200018 bytes of JSON, and at most 1048576 are allowed',
] as const;
const invalidData = ['invalid_body', 'data.price: must be of type number'] as const;

export const dataOperations = defineOperations('Data', table, {
  listEntityTypes: {
    summary: 'List entity types',
    description:
      'Returns the entity types that the key may read. `schema` is always a flat map of field name to type name, also for types that were pushed with a JSON Schema.',
    response: entityTypeListSchema,
    example: {
      response: {
        data: [
          {
            slug: 'product',
            name: 'Product',
            schema: { name: 'string', price: 'number' },
            searchFields: ['name'],
          },
        ],
      },
    },
  },
  listEntities: {
    summary: 'List entities',
    description:
      'Returns a page of entities, newest first, of at most 8 MiB: it may have fewer than `limit` while `hasMore` is true. Deleted entities are returned only with `status=deleted`.',
    params: typeParams,
    query: listEntitiesQuerySchema,
    response: entityPageSchema,
    errors: { 400: [badLimit, badCursor], 403: [denied], 404: [unknownType], 429: [tooManyCounts] },
    example: { response: page },
  },
  getEntity: {
    summary: 'Retrieve an entity',
    params: entityParams,
    response: entitySchema,
    errors: { ...unknown, 403: [denied, outOfScope] },
    example: { response: entity },
  },
  listEntityRelations: {
    summary: 'List the relations of an entity',
    description:
      'Returns a page of the relations that `entity.link` and payments made, in both directions, newest first. Entities that are deleted, or that the caller may not read, are left out.',
    params: entityParams,
    query: listEntityRelationsQuerySchema,
    response: entityRelationListSchema,
    errors: { ...unknown, 400: [badLimit, badCursor], 403: [denied, outOfScope] },
    example: {
      response: {
        data: [
          {
            relation: 'placed_by',
            direction: 'outgoing',
            entity: { type: 'customer', id: 'ent_344094610180001flsb0zoofo4' },
            createdAt: 1763683200000,
          },
        ],
        cursor: 'c1.WyJ3U3RqIl0',
        hasMore: false,
      },
    },
  },
  createEntity: {
    summary: 'Create an entity',
    description:
      'The fields that the type declares are validated; other fields are stored as given. `status` defaults to `active`.',
    params: typeParams,
    body: createEntityBodySchema,
    status: 201,
    response: entitySchema,
    errors: {
      400: [invalidData],
      403: [denied, outOfScope, masked],
      404: [unknownType],
      413: [tooLarge],
    },
    example: { body: { data: entity.data }, response: entity },
  },
  queryEntities: {
    summary: 'Query entities',
    description:
      "Returns a page of the entities that match all `filters`. Each filter maps a field to a literal (exact match; `null` matches null and absent fields) or to an object of operators: `$eq`, `$ne`, `$neq`, `$in`, `$nin`, `$gt`, `$gte`, `$lt`, `$lte`, `$contains`, `$exists`. Refer to the entity's own fields as `data.<field>`, at any depth; the top-level fields are `id`, `createdAt` and `updatedAt`. To filter by lifecycle status, use the `status` field of the body.",
    params: typeParams,
    body: queryEntitiesBodySchema,
    bodyOptional: true,
    response: entityPageSchema,
    errors: {
      400: [
        [
          'invalid_body',
          "filters.price: is not a filterable field. Queryable top-level fields: id, createdAt, updatedAt. Use data.<fieldName> for the entity's own fields",
        ],
        ['invalid_body', 'filters.data.a: unknown operator $like. Operators: …'],
      ],
      403: [denied, masked],
      404: [unknownType],
      429: [tooManyCounts],
    },
    example: {
      body: {
        filters: { 'data.price': { $lt: 300 }, 'data.tags': { $contains: 'tent' } },
        limit: 20,
      },
      response: page,
    },
  },
  searchEntities: {
    summary: 'Search entities',
    description:
      "Searches the type's `searchFields` and returns the best matches first. Every word of `query` must match; the last one matches as a prefix. Case and accents are ignored.",
    params: typeParams,
    body: searchEntitiesBodySchema,
    response: entityListSchema,
    errors: { 400: [['invalid_body', 'query is required']], 403: [denied], 404: [unknownType] },
    example: { body: { query: 'dome te' }, response: { data: [entity] } },
  },
  changeEntities: {
    summary: 'Change entities in bulk',
    description: `Creates, updates and deletes up to ${maxBulkOperations} entities of a type in one transaction and in the given order. It counts as one request for the rate limits. An operation that fails has its error in its result; with \`atomic\` nothing is changed, and the error is that of the first operation that fails. With \`dryRun\` the results are those of a real request, and nothing is changed. With an \`Idempotency-Key\`, a retry changes nothing twice.`,
    params: typeParams,
    body: changeEntitiesBodySchema,
    response: operationResultsSchema,
    errors: {
      400: [['invalid_body', 'operations.3.data.price: must be of type number']],
      403: [denied],
      404: [['entity_not_found', 'operations.3: Entity not found'], unknownType],
      413: [['data_too_large', `operations.3: ${tooLarge[1]}`]],
      429: [
        [
          'too_many_bulk_requests',
          'Too many bulk requests of the organization are running at the same time',
        ],
      ],
    },
    example: {
      body: {
        operations: [
          { action: 'create', data: { name: 'Camp stove', price: 59 } },
          { action: 'update', id: entity.id, data: { price: 229 } },
          { action: 'delete', id: 'ent_344094610180002a8kq2mzx41' },
        ],
      },
      response: {
        results: [
          { ok: true, id: 'ent_344094610180003r1m6yd0tqw' },
          { ok: true, id: entity.id },
          { ok: false, error: 'Entity not found', code: 'entity_not_found' },
        ],
      },
    },
  },
  updateEntity: {
    summary: 'Update an entity',
    description:
      'Merges `data` into the entity at the top level: fields that are not given keep their values, and `null` sets a field to null. Setting `status` on a deleted entity restores it.',
    params: entityParams,
    body: updateEntityBodySchema,
    response: entitySchema,
    errors: { ...unknown, 400: [invalidData], 403: [denied, outOfScope, masked], 413: [tooLarge] },
    example: {
      body: { data: { price: 229 } },
      response: { ...entity, data: { ...entity.data, price: 229 }, updatedAt: 1763686800000 },
    },
  },
  deleteEntity: {
    summary: 'Delete an entity',
    description:
      'Marks the entity as deleted: it no longer appears in lists, queries and searches. An update with a `status` restores it. Deleting a deleted entity succeeds and changes nothing.',
    params: entityParams,
    response: deletedBodySchema,
    errors: { ...unknown, 403: [denied, outOfScope] },
    example: { response: { success: true } },
  },
});
