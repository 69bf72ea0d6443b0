import { z } from 'zod';
import { jsonObjectSchema } from '../json';
import { slugSchema } from '../slug';

export const entityTypeDefinitionSchema = z.strictObject({
  slug: slugSchema,
  name: z.string().min(1).max(200),
  /** A flat map of field name to type name, or a subset of JSON Schema. libs/entities checks its contents. */
  schema: jsonObjectSchema,
  searchFields: z.array(z.string().min(1).max(200)).max(20).optional(),
  displayConfig: jsonObjectSchema.optional(),
});
export type EntityTypeDefinition = z.infer<typeof entityTypeDefinitionSchema>;
