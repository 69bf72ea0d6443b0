import { z } from 'zod';
import { jsonSchema } from '../json';
import { slugSchema } from '../slug';

/** The operators of filters (docs/reference/data.md#filters). `$neq` is a synonym of `$ne`. */
export const filterOperators = [
  '$eq',
  '$ne',
  '$neq',
  '$in',
  '$nin',
  '$gt',
  '$gte',
  '$lt',
  '$lte',
  '$contains',
  '$exists',
] as const;
export type FilterOperator = (typeof filterOperators)[number];

/** The actions of policies, besides `*` for all of them. */
export const policyActions = [
  'create',
  'read',
  'update',
  'delete',
  'list',
  'execute',
  'reach',
] as const;

const policySchema = z.strictObject({
  resource: z
    .string()
    .min(1)
    .max(200)
    .describe('Slug of an entity type, name of a tool such as `payment.create`, or `*`.'),
  actions: z
    .array(z.enum([...policyActions, '*']))
    .min(1)
    .describe(
      'What the policy allows or denies. `execute` calls a tool; `reach` lets a messaging tool reach others than the contact of the conversation.',
    ),
  effect: z.enum(['allow', 'deny']).describe('A denial takes precedence over any permission.'),
});
export type Policy = z.infer<typeof policySchema>;

const unknownOperator = `is not an operator; known are ${filterOperators.join(', ')}, also without "$"`;
/** The operators of rules in roles and routers: those of filters, with or without `$`. */
export const ruleOperatorSchema = z
  .enum(
    [
      ...filterOperators.map((operator) => operator.slice(1) as WithoutSign<FilterOperator>),
      ...filterOperators,
    ],
    {
      error: ({ input }) => (input === undefined ? undefined : unknownOperator),
    },
  )
  .describe('An operator of filters, with or without `$`.');
type WithoutSign<O> = O extends `$${infer Name}` ? Name : never;

const scopeRuleSchema = z.strictObject({
  entityType: slugSchema.describe('Slug of the entity type whose entities the rule limits.'),
  field: z
    .string()
    .min(1)
    .max(200)
    .describe('The compared field: `data.owner`, `id`, `status`, `createdAt` or `updatedAt`.'),
  operator: ruleOperatorSchema,
  value: jsonSchema.describe(
    'A literal, or `actor.userId`, `actor.entityId` or `actor.relatedIds:<type>` of the caller.',
  ),
  anyOf: z
    .string()
    .max(100)
    .optional()
    .describe(
      'Rules of an entity type with the same name here are alternatives. All other rules must hold.',
    ),
});
export type ScopeRule = z.infer<typeof scopeRuleSchema>;

const fieldMaskSchema = z.strictObject({
  entityType: slugSchema.describe('Slug of the entity type whose field is masked.'),
  fieldPath: z
    .string()
    .min(1)
    .max(200)
    .describe('Path of the field below `data`, such as `address.street`.'),
  maskType: z
    .enum(['hide', 'redact'])
    .describe('`hide` leaves the field out, `redact` replaces its value.'),
});

export const roleDefinitionSchema = z.strictObject({
  slug: slugSchema.describe('The name in references. Unique in an environment.'),
  name: z.string().min(1).max(200).describe('The name for people.'),
  description: z.string().max(4000).optional().describe('What the role is for.'),
  policies: z
    .array(policySchema)
    .max(500)
    .describe('What the role allows and denies. What no policy allows is denied.'),
  scopeRules: z
    .array(scopeRuleSchema)
    .max(200)
    .optional()
    .describe(
      'Conditions that an entity must fulfil to be within reach. Default: none, so that every entity is.',
    ),
  fieldMasks: z
    .array(fieldMaskSchema)
    .max(200)
    .optional()
    .describe('Fields that the role may neither see nor set. Default: none.'),
});
export type RoleDefinition = z.infer<typeof roleDefinitionSchema>;
