import { z } from 'zod';
import { jsonObjectSchema } from '../json';
import { slugSchema } from '../slug';

export const triggerDefinitionSchema = z.strictObject({
  slug: slugSchema,
  name: z.string().min(1).max(200),
  on: z.union([
    z.strictObject({
      entityType: slugSchema,
      action: z.enum(['created', 'updated', 'deleted']),
      condition: jsonObjectSchema.optional(),
    }),
    z.strictObject({ schedule: z.string().min(1).max(100), timezone: z.string().min(1).max(64).optional() }),
  ]),
  actions: z
    .array(
      z.strictObject({
        tool: z.string().min(1).max(200),
        args: jsonObjectSchema,
        as: z.string().min(1).max(100).optional(),
      }),
    )
    .min(1)
    .max(50),
  schedule: z
    .strictObject({
      delay: z.union([z.number().min(0), z.string().max(50)]).optional(),
      at: z.string().max(200).optional(),
      offset: z.union([z.number(), z.string().max(50)]).optional(),
      cancelPrevious: z.boolean().optional(),
    })
    .optional(),
  retry: z
    .strictObject({ maxAttempts: z.int().min(1).max(20), backoffMs: z.int().min(0).max(86_400_000).optional() })
    .optional(),
  enabled: z.boolean().optional(),
  cascade: z.boolean().optional(),
});
export type TriggerDefinition = z.infer<typeof triggerDefinitionSchema>;
