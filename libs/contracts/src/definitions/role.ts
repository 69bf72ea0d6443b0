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

const policySchema = z.strictObject({
  /** An entity type's slug, a tool name such as `payment.create`, or `*`. */
  resource: z.string().min(1).max(200),
  /** `reach`: messaging tools may reach others than the contact of the conversation. */
  actions: z.array(z.enum(['create', 'read', 'update', 'delete', 'list', 'execute', 'reach', '*'])).min(1),
  effect: z.enum(['allow', 'deny']),
});
export type Policy = z.infer<typeof policySchema>;

/** The operators of rules in roles and routers: those of filters, with or without `$`. */
export const ruleOperators = [
  ...filterOperators.map((operator) => operator.slice(1) as WithoutSign<FilterOperator>),
  ...filterOperators,
];
type WithoutSign<O> = O extends `$${infer Name}` ? Name : never;

const scopeRuleSchema = z.strictObject({
  entityType: slugSchema,
  field: z.string().min(1).max(200),
  operator: z.enum(ruleOperators),
  /** A literal, or `actor.userId`, `actor.entityId`, `actor.relatedIds:<type>`. */
  value: jsonSchema,
  /** Rules of one entity type with the same `anyOf` name are alternatives. All other rules must hold. */
  anyOf: z.string().max(100).optional(),
});
export type ScopeRule = z.infer<typeof scopeRuleSchema>;

const fieldMaskSchema = z.strictObject({
  entityType: slugSchema,
  /** Path below `data`, such as `address.street`. */
  fieldPath: z.string().min(1).max(200),
  maskType: z.enum(['hide', 'redact']),
});

export const roleDefinitionSchema = z.strictObject({
  slug: slugSchema,
  name: z.string().min(1).max(200),
  description: z.string().max(4000).optional(),
  policies: z.array(policySchema).max(500),
  scopeRules: z.array(scopeRuleSchema).max(200).optional(),
  fieldMasks: z.array(fieldMaskSchema).max(200).optional(),
});
export type RoleDefinition = z.infer<typeof roleDefinitionSchema>;
