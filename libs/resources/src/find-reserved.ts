import type { ErrorDetail, Scope } from '@parley/contracts';
import type { Queryable } from '@parley/db';
import { keysOfRoles } from '@parley/identity';
import { type Definition, slugOf } from './definition';
import type { Plan } from './plan-push';
import type { StoredResources } from './stored-resources';

/**
 * The changes of a push that only an admin may make: those that read a secret, or give rights to
 * code or to the holder of an API key
 * (docs/reference/permissions.md#definitions-that-only-an-admin-changes). What the push leaves
 * unchanged is never among them.
 */
export async function findReserved(
  db: Queryable,
  scope: Scope,
  {
    plan,
    stored,
    deletedTools,
  }: { plan: Plan; stored: StoredResources; deletedTools: ReadonlySet<string> },
): Promise<ErrorDetail[]> {
  return [
    ...reservedTools(plan, stored, deletedTools),
    ...(await reservedRoles(db, scope, plan, stored)),
  ];
}

function reservedTools(
  plan: Plan,
  stored: StoredResources,
  deleted: ReadonlySet<string>,
): ErrorDetail[] {
  const storedTool = (name: string) =>
    stored.tools.get(name)?.definition as Definition<'tools'> | undefined;
  const reserved: ErrorDetail[] = [];
  const add = (name: string, change: string, right: string | null) => {
    if (right !== null)
      reserved.push({
        path: 'tools',
        message: `Only an admin may ${change} the tool "${name}": ${right}`,
      });
  };
  for (const tool of plan.tools?.created ?? [])
    add(slugOf(tool), 'add', rightOf(tool as Definition<'tools'>));
  for (const tool of plan.tools?.updated ?? []) {
    const name = slugOf(tool);
    // Both, because a change may remove the declaration as well as add it.
    add(name, 'change', rightOf(tool as Definition<'tools'>) ?? rightOf(storedTool(name)));
  }
  for (const name of deleted) add(name, 'delete', rightOf(storedTool(name)));
  return reserved;
}

/** What a tool may do that its caller may not; null for a tool that acts as its caller. */
function rightOf(tool: Definition<'tools'> | undefined): string | null {
  if (tool?.secrets !== undefined && tool.secrets.length > 0)
    return `it declares the secret ${tool.secrets[0]}`;
  if (tool?.runAs !== undefined) return `it runs as ${tool.runAs}`;
  return null;
}

async function reservedRoles(
  db: Queryable,
  scope: Scope,
  plan: Plan,
  stored: StoredResources,
): Promise<ErrorDetail[]> {
  const created = (plan.roles?.created ?? []).map(slugOf);
  const updated = (plan.roles?.updated ?? []).map(slugOf);
  if (created.length + updated.length === 0) return [];
  // A key keeps the name of a role that was deleted, and gets its rights when the
  // role is added again.
  const ofKeys = await keysOfRoles(db, scope, [...created, ...updated]);
  const ofTools = [...stored.tools.values()].flatMap(({ slug, definition }) => {
    const { runAs } = definition as Definition<'tools'>;
    return runAs !== undefined && updated.includes(runAs)
      ? [{ role: runAs, user: `the tool "${slug}" runs as it` }]
      : [];
  });
  const uses = [
    ...ofKeys.map(({ role, prefix }) => ({ role, user: `it limits the API key ${prefix}` })),
    ...ofTools,
  ];
  return uses.map(({ role, user }) => {
    const change = created.includes(role) ? 'add' : 'change';
    return { path: 'roles', message: `Only an admin may ${change} the role "${role}": ${user}` };
  });
}
