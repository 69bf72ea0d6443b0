import { z } from 'zod';
import { jsonObjectSchema } from '../json';

export const entitySchema = z.object({
  id: z.string(),
  type: z.string(),
  status: z.string(),
  data: jsonObjectSchema,
  createdAt: z.number(),
  updatedAt: z.number(),
});
export type Entity = z.infer<typeof entitySchema>;

export const entityPageSchema = z.object({ data: z.array(entitySchema), cursor: z.string(), hasMore: z.boolean() });
export type EntityPage = z.infer<typeof entityPageSchema>;

export const entityTypeSchema = z.object({
  slug: z.string(),
  name: z.string(),
  schema: z.record(z.string(), z.string()),
  searchFields: z.array(z.string()),
});
export type EntityTypeView = z.infer<typeof entityTypeSchema>;

export const entityTypeListSchema = z.strictObject({ data: z.array(entityTypeSchema) });

/** The results of a search, which has no cursor and no further pages. */
export const entityListSchema = z.strictObject({ data: z.array(entitySchema) });

const status = z.string().min(1).max(64);

/** A page size: values above 100 count as 100; values below 1 and fractions are refused (docs/reference/limits.md#data). */
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
  .preprocess((value) => (typeof value === 'string' && /^-?\d+$/.test(value) ? Number(value) : value), limit(50))
  .meta({ type: 'integer', minimum: 1, default: 50, description: limitText });

export const listEntitiesQuerySchema = z.object({
  limit: limitInQuery,
  cursor: z.string().optional(),
  status: status.optional(),
});

export const createEntityBodySchema = z.strictObject({ data: jsonObjectSchema, status: status.optional() });

export const updateEntityBodySchema = createEntityBodySchema;

export const queryEntitiesBodySchema = z.strictObject({
  filters: jsonObjectSchema.optional(),
  status: status.optional(),
  limit: limit(50),
  cursor: z.string().optional(),
  sort: z.strictObject({ field: z.string(), direction: z.enum(['asc', 'desc']).default('desc') }).optional(),
});

export const searchEntitiesBodySchema = z.strictObject({
  query: z.string('query is required').refine((text) => text.trim() !== '', 'query is required'),
  limit: limit(20),
  status: status.optional(),
});

export const deletedBodySchema = z.object({ success: z.literal(true) });
