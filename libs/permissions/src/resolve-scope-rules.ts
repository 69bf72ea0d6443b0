import type { Actor, Json, RoleDefinition, Scope, ScopeRule } from '@parley/contracts';
import type { Queryable } from '@parley/db';
import { relatedIds } from '@parley/entities';
import { dynamicValue, operatorOf } from './scope-rule';

/** A scope rule with what it stands for put in; rules that share an `anyOf` name are alternatives. */
export interface ResolvedRule {
  field: string;
  operator: ReturnType<typeof operatorOf>;
  value: Json;
  anyOf?: string;
}

/**
 * The rules of some roles for one entity type, for one actor. All hold together, except that rules of one role that
 * share an `anyOf` name are alternatives. A rule about something that the actor does not have holds for nothing.
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
      // Names of groups are private to a role: two roles cannot open each other's rules.
      .map((rule) => ({ rule, group: rule.anyOf === undefined ? {} : { anyOf: `${slug} ${rule.anyOf}` } })),
  );
  return Promise.all(
    rules.map(async ({ rule, group }) => ({ ...(await resolveRule(db, scope, actor, rule)), ...group })),
  );
}

/** Holds for no entity. */
const nothing = { field: 'id', operator: '$in', value: [] } satisfies ResolvedRule;

async function resolveRule(db: Queryable, scope: Scope, actor: Actor, rule: ScopeRule): Promise<ResolvedRule> {
  const { field } = rule;
  const operator = operatorOf(rule.operator);
  const written = rule.value as Json;
  const parts = await Promise.all(
    (Array.isArray(written) ? written : [written]).map((part) => resolvePart(db, scope, actor, part)),
  );
  if (parts.includes(undefined)) return nothing;
  const values = parts.flatMap((part) => part!.values);
  if (!parts.some((part) => part!.isList)) {
    const isDynamic = dynamicValue(written) !== null;
    const isList = Array.isArray(written) || (isDynamic && (operator === '$in' || operator === '$nin'));
    return { field, operator, value: isList ? values : values[0]! };
  }
  // Related ids are a list wherever one value is expected, too.
  if (operator === '$eq' || operator === '$in') return { field, operator: '$in', value: values };
  return operator === '$ne' || operator === '$nin' ? { field, operator: '$nin', value: values } : nothing;
}

/** Undefined when the actor has no such thing, or nobody knows what it is. */
async function resolvePart(
  db: Queryable,
  scope: Scope,
  actor: Actor,
  part: Json,
): Promise<{ values: Json[]; isList: boolean } | undefined> {
  const dynamic = dynamicValue(part);
  if (dynamic === null) return { values: [part], isList: false };
  if (dynamic === 'unknown' || !('roles' in actor)) return undefined;
  if (dynamic.kind === 'userId') return actor.userId === undefined ? undefined : one(actor.userId);
  if (actor.entityId === undefined) return undefined;
  if (dynamic.kind === 'entityId') return one(actor.entityId);
  return { values: await relatedIds(db, scope, { entityId: actor.entityId, type: dynamic.entityType }), isList: true };
}

const one = (value: Json) => ({ values: [value], isList: false });
