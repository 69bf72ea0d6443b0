import { z } from 'zod';
import { jsonObjectSchema } from '../json';
import { errorCode, errorDetails, errorText } from './error';

export const entitySchema = z.object({
  id: z.string().describe('Unique id, `ent_…`.'),
  type: z.string().describe('Slug of the entity type.'),
  status: z.string().describe('Lifecycle status, such as `active` or `deleted`.'),
  data: jsonObjectSchema.describe("The entity's own fields."),
  createdAt: z.number().describe('Time of the creation, in Unix milliseconds.'),
  updatedAt: z.number().describe('Time of the last change, in Unix milliseconds.'),
});
export type Entity = z.infer<typeof entitySchema>;

export const entityPageSchema = z.object({
  data: z.array(entitySchema).describe('The entities of the page.'),
  cursor: z.string().describe('Send it as `cursor` to get the next page.'),
  hasMore: z.boolean().describe('Whether there are entities after this page.'),
  total: z.number().int().optional().meta({
    description: 'The number of all matching entities, on every page. Present with `count`.',
  }),
});
export type EntityPage = z.infer<typeof entityPageSchema>;

export const entityTypeSchema = z.object({
  slug: z.string().describe('The name in paths and references, such as `product`.'),
  name: z.string().describe('The name for people.'),
  schema: z.record(z.string(), z.string()).describe('Type name of each declared field.'),
  searchFields: z
    .array(z.string())
    .describe('Fields that a search reads, the most important first.'),
});
export type EntityTypeView = z.infer<typeof entityTypeSchema>;

export const entityTypeListSchema = z.strictObject({
  data: z.array(entityTypeSchema).describe('The entity types that the key may read.'),
});

/** The results of a search, which has no cursor and no further pages. */
export const entityListSchema = z.strictObject({
  data: z.array(entitySchema).describe('The best matches, first to last.'),
});

const status = z.string().min(1).max(64);
const statusFilter = status
  .optional()
  .describe('Only entities with this lifecycle status. Default: every status but `deleted`.');
const newStatus = status.optional();

/**
 * A page size: values above 100 count as 100; values below 1 and fractions are refused
 * (docs/reference/limits.md#data).
 */
const limitProblem = 'limit must be a whole number of at least 1';
const limitText = 'The maximum number of entities to return. Values above 100 count as 100.';
const limit = (fallback: number) =>
  z
    .number(limitProblem)
    .refine((value) => Number.isInteger(value) && value >= 1, limitProblem)
    .default(fallback)
    .transform((value) => Math.min(value, 100))
    .meta({ type: 'integer', minimum: 1, default: fallback, description: limitText });

const limitInQuery = z
  .preprocess(
    (value) => (typeof value === 'string' && /^-?\d+$/.test(value) ? Number(value) : value),
    limit(50),
  )
  .meta({ type: 'integer', minimum: 1, default: 50, description: limitText });

const count = z.enum(['exact', 'estimated']).optional().meta({
  description:
    'Adds `total`, the number of all matching entities. `exact` counts up to 1,000,000; `estimated` counts up to 10,000 and estimates larger numbers.',
});

export const listEntitiesQuerySchema = z.object({
  limit: limitInQuery,
  cursor: z.string().optional().describe('The `cursor` of the page before.'),
  count,
  status: statusFilter,
});

export const listEntityRelationsQuerySchema = listEntitiesQuerySchema.pick({
  limit: true,
  cursor: true,
});

export const entityRelationListSchema = z.strictObject({
  data: z
    .array(
      z.object({
        relation: z.string().describe('Name of the relation, such as `placed_by`.'),
        direction: z
          .enum(['outgoing', 'incoming'])
          .describe(
            '`outgoing`: it leads from this entity to the other. `incoming`: from the other to this one.',
          ),
        entity: z
          .object({
            type: z.string().describe('Slug of its entity type.'),
            id: z.string().describe('Id of the entity.'),
          })
          .describe('The other entity.'),
        createdAt: z.number().describe('Time of the relation, in Unix milliseconds.'),
      }),
    )
    .describe('The relations of the page.'),
  cursor: z.string().describe('Send it as `cursor` to get the next page.'),
  hasMore: z.boolean().describe('Whether there are relations after this page.'),
});

export const createEntityBodySchema = z.strictObject({
  data: jsonObjectSchema.describe("The entity's own fields."),
  status: newStatus.describe('Lifecycle status. Default: `active`.'),
});

export const updateEntityBodySchema = z.strictObject({
  data: jsonObjectSchema.describe(
    'Fields to set, at the top level of `data`. Other fields stay; `null` sets a field to null.',
  ),
  status: newStatus.describe(
    'A new lifecycle status. Default: unchanged, or for a deleted entity an error.',
  ),
});

export const maxBulkOperations = 500;

const entityId = z.string().describe('Id of the entity.');
const action = <A extends string>(name: A) => z.literal(name).describe('The kind of change.');

/** One change of a bulk request. */
const entityOperationSchema = z.discriminatedUnion('action', [
  createEntityBodySchema.extend({ action: action('create') }),
  updateEntityBodySchema.extend({ action: action('update'), id: entityId }),
  z.strictObject({ action: action('delete'), id: entityId }),
]);
export type EntityOperation = z.infer<typeof entityOperationSchema>;

export const changeEntitiesBodySchema = z.strictObject({
  operations: z
    .array(entityOperationSchema)
    .min(1)
    .max(maxBulkOperations)
    .meta({ description: 'The changes, which are made in this order.' }),
  atomic: z.boolean().default(false).meta({
    description:
      'Whether the first operation that fails undoes all others and is the error of the response.',
  }),
  dryRun: z.boolean().default(false).meta({
    description:
      'Checks everything as usual, and changes nothing. Ids of created entities are then of no use.',
  }),
});

/** The results of the operations, in their order. */
export const operationResultsSchema = z.strictObject({
  results: z
    .array(
      z.discriminatedUnion('ok', [
        z.strictObject({ ok: z.literal(true).describe('The change was made.'), id: entityId }),
        z.strictObject({
          ok: z.literal(false).describe('Nothing was changed.'),
          error: errorText,
          code: errorCode,
          details: errorDetails,
        }),
      ]),
    )
    .describe('The result of each operation, in their order.'),
});
export type OperationResult = z.infer<typeof operationResultsSchema>['results'][number];

export const queryEntitiesBodySchema = z.strictObject({
  filters: jsonObjectSchema
    .optional()
    .describe(
      'Conditions by field, which must all hold: `{ "data.price": { "$lt": 300 } }`. Default: all entities.',
    ),
  status: statusFilter,
  limit: limit(50),
  cursor: z.string().optional().describe('The `cursor` of the page before, of the same query.'),
  count,
  sort: z
    .strictObject({
      field: z.string().describe('`data.<field>`, `id`, `createdAt` or `updatedAt`.'),
      direction: z.enum(['asc', 'desc']).default('desc').describe('Ascending or descending.'),
    })
    .optional()
    .describe('Order of the entities. Default: newest first.'),
});

export const searchEntitiesBodySchema = z.strictObject({
  query: z
    .string('query is required')
    .refine((text) => text.trim() !== '', 'query is required')
    .describe(
      'Words that must all match. The last one matches as a prefix. Case and accents are ignored.',
    ),
  limit: limit(20),
  status: statusFilter,
});

export const deletedBodySchema = z.object({
  success: z.literal(true).describe('The entity is deleted.'),
});
