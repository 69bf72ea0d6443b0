import { z } from 'zod';
import { jsonSchema } from '../json';
import { slugSchema } from '../slug';
import { ruleOperators } from './role';

export const routerDefinitionSchema = z.strictObject({
  slug: slugSchema,
  name: z.string().min(1).max(200),
  mode: z.enum(['rules', 'classify']),
  /** Slugs of the agents that the router may choose. */
  agents: z.array(slugSchema).min(1).max(50),
  /** Evaluated in order: the first rule whose conditions all hold chooses the agent. */
  rules: z
    .array(
      z.strictObject({
        conditions: z
          .array(
            z.strictObject({
              /** `<entityType>.<field>` of the entity found by the phone number. */
              field: z.string().min(1).max(200),
              operator: z.enum(ruleOperators),
              value: jsonSchema,
            }),
          )
          .min(1),
        route: slugSchema,
      }),
    )
    .max(200)
    .optional(),
  fallback: slugSchema,
  classifyModel: z.string().max(200).optional(),
  /** Number of earlier messages that are sent to the classifying model. */
  contextMessages: z.int().min(0).max(50).optional(),
});
export type RouterDefinition = z.infer<typeof routerDefinitionSchema>;
