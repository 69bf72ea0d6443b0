import type { Policy } from '@parley/contracts';

export type Action = Exclude<Policy['actions'][number], '*'>;

export type Decision = { allowed: true } | { allowed: false; message: string };

/**
 * Decides by policies alone: a matching deny wins over any allow, and what nothing matches is denied. The texts are
 * those of interface.md, Permission engine errors.
 */
export function decide(policies: readonly Policy[], action: Action, resource: string): Decision {
  const matching = policies.filter(
    (policy) =>
      matchesName(policy.resource, resource) && (policy.actions.includes(action) || policy.actions.includes('*')),
  );
  if (matching.some(({ effect }) => effect === 'deny')) return denied('denied by policy');
  if (matching.some(({ effect }) => effect === 'allow')) return { allowed: true };
  return denied(`cannot perform '${action}' on '${resource}'`);
}

/** Whether a name is what a pattern says: the name itself, everything (`*`), or a namespace of tools (`payment.*`). */
export function matchesName(pattern: string, name: string): boolean {
  if (pattern === '*' || pattern === name) return true;
  return pattern.endsWith('.*') && name.startsWith(pattern.slice(0, -1));
}

/**
 * Whether a `tools` list holds a tool. What MCP servers offer is written by others, so `*` does not stand for it: it is
 * named as `mcp.<server>.<tool>`, `mcp.<server>.*` or `mcp.*`.
 */
export const isListed = (list: readonly string[], name: string): boolean =>
  list.some((pattern) => matchesName(pattern, name) && (pattern !== '*' || !name.startsWith('mcp.')));

const denied = (reason: string): Decision => ({ allowed: false, message: `Permission denied: ${reason}` });
