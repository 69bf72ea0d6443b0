import { z } from 'zod';
import { jsonSchema } from '../json';
import { slugSchema } from '../slug';

/** Filter operators, both documented sets (decisions.md, Data API). */
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
  /** create, read, update, delete, list, execute or `*`. */
  actions: z.array(z.enum(['create', 'read', 'update', 'delete', 'list', 'execute', '*'])).min(1),
  effect: z.enum(['allow', 'deny']),
});
export type Policy = z.infer<typeof policySchema>;

/** Of rules in roles and routers: those of a query, with or without the sign. */
export const ruleOperators = [
  'eq',
  'ne',
  'neq',
  'in',
  'nin',
  'gt',
  'gte',
  'lt',
  'lte',
  'contains',
  'exists',
  ...filterOperators,
] as const;

const scopeRuleSchema = z.strictObject({
  entityType: slugSchema,
  field: z.string().min(1).max(200),
  operator: z.enum(ruleOperators),
  /** A literal, or `actor.userId`, `actor.entityId`, `actor.relatedIds:<type>`. */
  value: jsonSchema,
  /** Rules of one type that carry the same name are alternatives; all others must hold together. */
  anyOf: z.string().max(100).optional(),
});
export type ScopeRule = z.infer<typeof scopeRuleSchema>;

const fieldMaskSchema = z.strictObject({
  entityType: slugSchema,
  /** Below `data`: `email`, `address.street`. */
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
