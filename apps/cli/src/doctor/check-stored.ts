import { hasAnswerer } from '@parley/agents';
import { listConnections } from '@parley/channels';
import { type Environment, environmentSchema } from '@parley/contracts';
import { type Db, listEnvironmentIntegrations } from '@parley/db';
import { readEntityTypes } from '@parley/entities';
import { listApiKeys, listOrganizations } from '@parley/identity';
import { singular, storedProblems } from '@parley/resources';
import { builtInToolNames } from '@parley/tools';
import { configProblem } from '../commands/integrations-set';
import { type NamedScope, scopeOf } from '../scope';
import type { Finding } from './finding';

const maxShown = 50;

/** Problems of one kind of stored rows in an environment. A new rule for a kind is a new line of its check. */
type Check = (db: Db, scope: NamedScope) => Promise<{ subject: string; problem: string; fix: string }[]>;

const checks: Check[] = [checkDefinitions, checkKeys, checkConnections, checkIntegrations];

/**
 * Names the stored definitions, keys, connections and integrations that the rules of this version would refuse. They were
 * stored by earlier versions and keep working until they are changed. Reads one environment at a time.
 */
export async function checkStored(db: Db): Promise<Finding[]> {
  const name = 'Stored';
  const findings: Finding[] = [];
  let count = 0;
  for (const organization of await listOrganizations(db)) {
    for (const environment of environmentSchema.options) {
      const scope = scopeOf(organization, environment);
      for (const check of checks)
        for (const { subject, problem, fix } of await check(db, scope))
          if (++count <= maxShown)
            findings.push({ name, state: 'warning', detail: `${subject} in ${scope.name}: ${problem}`, fix });
    }
  }
  if (count === 0)
    return [{ name, state: 'ok', detail: 'definitions, keys, connections and integrations follow the rules' }];
  if (count > maxShown)
    findings.push({
      name,
      state: 'warning',
      detail: `${count - maxShown} more problems of what is stored are not shown`,
    });
  return findings;
}

async function checkDefinitions(db: Db, scope: NamedScope) {
  const problems = await storedProblems(db, scope, builtInToolNames);
  return problems.map(({ kind, slug, path, message }) => ({
    subject: `${singular[kind]} "${slug}"`,
    problem: `${path} ${message}`.trim(),
    fix: 'It keeps working, but is refused when it is pushed again. Correct it and push it',
  }));
}

async function checkKeys(db: Db, scope: NamedScope) {
  const keys = (await listApiKeys(db, scope)).filter(
    ({ environment, revokedAt, expiresAt }) =>
      (environment as Environment) === scope.environment &&
      revokedAt === null &&
      (expiresAt?.getTime() ?? Infinity) > Date.now(),
  );
  return keys
    .filter(({ role, permissions }) => role !== null && permissions.some((name) => name === 'sync' || name === '*'))
    .map(({ prefix, name, role, permissions }) => ({
      subject: `key ${prefix}… (${name})`,
      problem: `it has the role "${role}" and the permission ${permissions.includes('*') ? '*' : 'sync'}, but sync, fire-trigger and compile-prompt answer 403 to a key with a role`,
      fix: 'Create a key without a role for sync (parley keys create), and one with the role for the rest',
    }));
}

/** The rules of `parley channels connect`. */
async function checkConnections(db: Db, scope: NamedScope) {
  const problems = [];
  for (const { id, agent, router, contactType } of await listConnections(db, scope)) {
    const subject = `connection ${id}`;
    const answerer = agent === null ? `router "${router}"` : `agent "${agent}"`;
    if (!(await hasAnswerer(db, scope, { agentSlug: agent ?? undefined, routerSlug: router ?? undefined })))
      problems.push({
        subject,
        problem: `there is no ${answerer} to answer`,
        fix: 'Push it, or connect the number again',
      });
    if (contactType !== null && !(await readEntityTypes(db, scope)).some(({ slug }) => slug === contactType))
      problems.push({ subject, problem: `there is no entity type "${contactType}" for its contacts`, fix: 'Push it' });
  }
  return problems;
}

/** The rules of `parley integrations set`. */
async function checkIntegrations(db: Db, scope: NamedScope) {
  return (await listEnvironmentIntegrations(db, scope)).flatMap(({ provider, config }) => {
    const problem = configProblem(provider, config);
    return problem === null
      ? []
      : [{ subject: `integration ${provider}`, problem, fix: `Correct it: parley integrations set ${provider}` }];
  });
}
