import { z } from 'zod';
import { jsonObjectSchema } from '../json';
import { slugSchema } from '../slug';

export const entityTypeDefinitionSchema = z.strictObject({
  slug: slugSchema,
  name: z.string().min(1).max(200),
  /** The flat map of field to type name, or the JSON Schema subset; what it may hold is checked by libs/entities. */
  schema: jsonObjectSchema,
  searchFields: z.array(z.string().min(1).max(200)).max(20).optional(),
  displayConfig: jsonObjectSchema.optional(),
});
export type EntityTypeDefinition = z.infer<typeof entityTypeDefinitionSchema>;
