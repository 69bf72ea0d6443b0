import { z } from 'zod';
import { jsonSchema } from '../json';
import { slugSchema } from '../slug';
import { ruleOperatorSchema } from './role';

export const routerDefinitionSchema = z.strictObject({
  slug: slugSchema.describe(
    'The name in paths and references, such as `front-desk`. Unique in an environment.',
  ),
  name: z.string().min(1).max(200).describe('The name for people.'),
  mode: z
    .enum(['rules', 'classify'])
    .describe(
      "`rules` compares the contact's entity with rules; `classify` asks a model which agent fits the message.",
    ),
  agents: z
    .array(slugSchema)
    .min(1)
    .max(50)
    .describe('Slugs of the agents that the router may choose.'),
  rules: z
    .array(
      z.strictObject({
        conditions: z
          .array(
            z.strictObject({
              field: z
                .string()
                .min(1)
                .max(200)
                .describe(
                  "`<entityType>.<field>` of the entity with the contact's phone number, such as `customer.tier`.",
                ),
              operator: ruleOperatorSchema,
              value: jsonSchema.describe('The value to compare with.'),
            }),
          )
          .min(1)
          .describe('Conditions that must all hold.'),
        route: slugSchema.describe('Slug of the agent that the rule chooses.'),
      }),
    )
    .max(200)
    .optional()
    .describe('Evaluated in order: the first rule whose conditions all hold chooses the agent.'),
  fallback: slugSchema.describe(
    'Slug of the agent that answers when no rule holds or the classification fails.',
  ),
  classifyModel: z
    .string()
    .max(200)
    .optional()
    .describe(
      'Model of the classification, as `provider/name`; without a provider it is one of `openai`. Default: `PARLEY_DEFAULT_MODEL` of the installation.',
    ),
  contextMessages: z
    .int()
    .min(0)
    .max(50)
    .optional()
    .describe('Number of earlier messages that the classification reads. Default: 4.'),
});
export type RouterDefinition = z.infer<typeof routerDefinitionSchema>;
