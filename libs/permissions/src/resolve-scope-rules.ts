import type { Actor, Json, RoleDefinition, Scope, ScopeRule } from '@parley/contracts';
import type { Queryable } from '@parley/db';
import { relatedIds } from '@parley/entities';
import { dynamicValue, operatorOf } from './scope-rule';

/**
 * A scope rule with its dynamic values replaced. Rules with the same `anyOf` name are alternatives.
 */
export interface ResolvedRule {
  field: string;
  operator: ReturnType<typeof operatorOf>;
  value: Json;
  anyOf?: string;
}

/**
 * The scope rules of roles for one entity type and actor
 * (docs/reference/permissions.md#scope-rules). An entity must match each rule; among a role's rules
 * with the same `anyOf` name one is enough. A rule with a value that the actor does not have
 * matches no entity.
 */
export async function resolveScopeRules(
  db: Queryable,
  scope: Scope,
  actor: Actor,
  roles: readonly RoleDefinition[],
  entityType: string,
): Promise<ResolvedRule[]> {
  const rules = roles.flatMap(({ slug, scopeRules = [] }) =>
    scopeRules
      .filter((rule) => rule.entityType === entityType)
      // The role's slug is part of the name, so that rules of different roles are not alternatives.
      .map((rule) => ({
        rule,
        group: rule.anyOf === undefined ? {} : { anyOf: `${slug} ${rule.anyOf}` },
      })),
  );
  return Promise.all(
    rules.map(async ({ rule, group }) => ({
      ...(await resolveRule(db, scope, actor, rule)),
      ...group,
    })),
  );
}

/** Matches no entity. */
const matchNothing = { field: 'id', operator: '$in', value: [] } satisfies ResolvedRule;

async function resolveRule(
  db: Queryable,
  scope: Scope,
  actor: Actor,
  rule: ScopeRule,
): Promise<ResolvedRule> {
  const { field } = rule;
  const operator = operatorOf(rule.operator);
  const written = rule.value as Json;
  const resolved = await Promise.all(
    (Array.isArray(written) ? written : [written]).map((value) =>
      resolveValue(db, scope, actor, value),
    ),
  );
  if (resolved.includes(undefined)) return matchNothing;
  const values = resolved.flatMap((value) => value!.values);
  if (!resolved.some((value) => value!.isList)) {
    const isDynamic = dynamicValue(written) !== null;
    const isList =
      Array.isArray(written) || (isDynamic && (operator === '$in' || operator === '$nin'));
    return { field, operator, value: isList ? values : values[0]! };
  }
  // Related ids are always a list, even with an operator that takes one value.
  if (operator === '$eq' || operator === '$in') return { field, operator: '$in', value: values };
  return operator === '$ne' || operator === '$nin'
    ? { field, operator: '$nin', value: values }
    : matchNothing;
}

/**
 * Resolves a rule's value for an actor; undefined when the actor has no such value or the
 * value is unknown.
 */
async function resolveValue(
  db: Queryable,
  scope: Scope,
  actor: Actor,
  value: Json,
): Promise<{ values: Json[]; isList: boolean } | undefined> {
  const dynamic = dynamicValue(value);
  if (dynamic === null) return { values: [value], isList: false };
  if (dynamic === 'unknown' || !('roles' in actor)) return undefined;
  if (dynamic.kind === 'userId')
    return actor.userId === undefined ? undefined : single(actor.userId);
  if (actor.entityId === undefined) return undefined;
  if (dynamic.kind === 'entityId') return single(actor.entityId);
  return {
    values: await relatedIds(db, scope, { entityId: actor.entityId, type: dynamic.entityType }),
    isList: true,
  };
}

const single = (value: Json) => ({ values: [value], isList: false });
