import type { Actor, RoleDefinition } from '@parley/contracts';
import { type Action, applies } from './policy';

/** A list of roles that restricts an actor, and those of them that exist. */
export interface HeldRoles {
  slugs: readonly string[];
  roles: readonly RoleDefinition[];
}

/**
 * Which role or policy denies an operation. A key with a role gets the name of its own role
 * only: neither policies nor roles of agents, so that a website cannot read how an
 * organization is set up.
 */
export function explainDenial(
  actor: Actor,
  { slugs, roles }: HeldRoles,
  action: Action,
  resource: string,
): string {
  if (actor.type === 'user')
    return slugs.length === 0
      ? 'the caller has no role'
      : `the ${named(slugs)} of the key does not allow it`;
  if ('within' in actor && actor.within !== undefined)
    return actor.within.includes(slugs as string[])
      ? 'a role of the caller does not allow it'
      : 'the roles of the agent do not allow it';
  if (actor.type === 'tool') {
    const how = slugs.includes(actor.runAs) ? 'runs' : 'is called inside a tool that runs';
    const as = `${actor.name} ${how} as the ${named(slugs)}`;
    return mayKnow(actor)
      ? `${as}, which does not allow it`
      : `the role of ${actor.name} does not allow it`;
  }
  return explainList({ slugs, roles }, action, resource).reason;
}

/** Whether names of roles and secrets may be shown: not to a key with a role. */
export const mayKnow = (actor: Actor): boolean =>
  actor.type === 'tool'
    ? mayKnow(actor.calledBy)
    : actor.type !== 'user' && !('within' in actor && actor.within !== undefined);

const named = (slugs: readonly string[]): string =>
  `${slugs.length === 1 ? 'role' : 'roles'} ${slugs.map((slug) => `"${slug}"`).join(', ')}`;

/** The policy that decides: its role and its position in the role's `policies`. */
export interface DecidingPolicy {
  role: string;
  policy: number;
}

/**
 * Which policies allow or deny an operation. For operators: it names roles whatever
 * the actor may know.
 */
export interface Explanation {
  allowed: boolean;
  reason: string;
  /** One for each list of roles that restricts the actor; empty when no policy decides. */
  policies: DecidingPolicy[];
}

/**
 * Explains the decision of one list of roles: the first policy that denies the operation, else the
 * first that allows it.
 */
export function explainList(
  { slugs, roles }: HeldRoles,
  action: Action,
  resource: string,
): Explanation {
  for (const effect of ['deny', 'allow'] as const) {
    for (const { slug, policies } of roles) {
      const at = policies.findIndex(
        (policy) => policy.effect === effect && applies(policy, action, resource),
      );
      if (at < 0) continue;
      const verb = effect === 'deny' ? 'denies' : 'allows';
      const reason = `policies.${at} of the role "${slug}" ${verb} it`;
      return { allowed: effect === 'allow', reason, policies: [{ role: slug, policy: at }] };
    }
  }
  const missing = slugs.filter((slug) => !roles.some((role) => role.slug === slug));
  const reason =
    missing.length > 0
      ? `the ${named(missing)} ${missing.length === 1 ? 'does' : 'do'} not exist`
      : slugs.length === 0
        ? 'the caller has no role'
        : `no policy of the ${named(slugs)} allows it`;
  return { allowed: false, reason, policies: [] };
}
