import type { Policy } from '@parley/contracts';

export type Action = Exclude<Policy['actions'][number], '*'>;

/** `reason`: which role or policy denies it, as far as the actor may know. */
export type Decision = { allowed: true } | { allowed: false; message: string; reason?: string };

/**
 * Decides by policies: a matching deny overrides any allow, and an action without a matching policy
 * is denied. For the messages see docs/reference/permissions.md#messages-of-denials.
 */
export function decide(policies: readonly Policy[], action: Action, resource: string): Decision {
  const matching = policies.filter((policy) => applies(policy, action, resource));
  if (matching.some(({ effect }) => effect === 'deny')) return denied('denied by policy');
  if (matching.some(({ effect }) => effect === 'allow')) return { allowed: true };
  return denied(`cannot perform '${action}' on '${resource}'`);
}

/** Whether a policy is about an action on a resource. */
export const applies = (policy: Policy, action: Action, resource: string): boolean =>
  matchesName(policy.resource, resource) &&
  (policy.actions.includes(action) || policy.actions.includes('*'));

/**
 * Whether a pattern matches a name. It is the name itself, `*` for all names, or a prefix
 * such as `payment.*`.
 */
export function matchesName(pattern: string, name: string): boolean {
  if (pattern === '*' || pattern === name) return true;
  return pattern.endsWith('.*') && name.startsWith(pattern.slice(0, -1));
}

/**
 * Whether a `tools` list contains a tool. `*` does not match tools of MCP servers, which third
 * parties define: the list must name them as `mcp.<server>.<tool>`, `mcp.<server>.*` or `mcp.*`.
 */
export const isListed = (list: readonly string[], name: string): boolean =>
  list.some(
    (pattern) => matchesName(pattern, name) && (pattern !== '*' || !name.startsWith('mcp.')),
  );

const denied = (reason: string): Decision => ({
  allowed: false,
  message: `Permission denied: ${reason}`,
});
