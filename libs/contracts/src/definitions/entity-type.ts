import { z } from 'zod';
import { jsonObjectSchema } from '../json';
import { slugSchema } from '../slug';

export const entityTypeDefinitionSchema = z.strictObject({
  slug: slugSchema.describe(
    'The name in paths and references, such as `product`. Unique in an environment.',
  ),
  name: z.string().min(1).max(200).describe('The name for people.'),
  // libs/entities checks its contents.
  schema: jsonObjectSchema.describe(
    'The fields of `data`: a flat map of field to type name, such as `{ "price": "number" }`, or a subset of JSON Schema.',
  ),
  searchFields: z
    .array(z.string().min(1).max(200))
    .max(20)
    .optional()
    .describe(
      'Fields of `data` that a search reads, the most important first. At most 20. Default: none.',
    ),
  displayConfig: jsonObjectSchema.optional().describe('Stored as it is, for user interfaces.'),
});
export type EntityTypeDefinition = z.infer<typeof entityTypeDefinitionSchema>;

/**
 * The entity type of payments, which Parley itself creates
 * (docs/reference/payments.md#payment-entity).
 */
export const paymentType = 'payment';
