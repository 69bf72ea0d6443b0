import { hasAnswerer } from '@parley/agents';
import { listConnections } from '@parley/channels';
import { type Environment, environmentSchema } from '@parley/contracts';
import type { Db } from '@parley/db';
import { readEntityTypes } from '@parley/entities';
import { listApiKeys, listOrganizations } from '@parley/identity';
import { storedProblems } from '@parley/resources';
import { builtInToolNames } from '@parley/tools';
import { type NamedScope, scopeOf } from '../scope';
import type { Finding } from './finding';

/**
 * Problems of one kind of stored rows in an environment. A new rule for a kind is a new
 * line of its check.
 */
type Check = (
  db: Db,
  scope: NamedScope,
) => Promise<{ subject: string; problem: string; fix: string }[]>;

const checks: Check[] = [checkDefinitions, checkKeys, checkConnections];

/**
 * Names the stored definitions, keys and connections that the rules of this version would refuse.
 * Earlier versions stored them, and they keep working until they are changed. Reads one
 * environment at a time.
 */
export async function checkStored(db: Db): Promise<Finding[]> {
  const name = 'Stored';
  const findings: Finding[] = [];
  for (const organization of await listOrganizations(db)) {
    for (const environment of environmentSchema.options) {
      const scope = scopeOf(organization, environment);
      for (const check of checks)
        for (const { subject, problem, fix } of await check(db, scope))
          findings.push({
            name,
            state: 'warning',
            detail: `${subject} in ${scope.name}: ${problem}`,
            fix,
          });
    }
  }
  return findings.length > 0
    ? findings
    : [{ name, state: 'ok', detail: 'definitions, keys and connections follow the rules' }];
}

async function checkDefinitions(db: Db, scope: NamedScope) {
  const problems = await storedProblems(db, scope, builtInToolNames);
  return problems.map(({ subject, path, message }) => ({
    subject,
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
    .filter(
      ({ role, permissions }) =>
        role !== null && permissions.some((name) => name === 'sync' || name === '*'),
    )
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
    if (
      !(await hasAnswerer(db, scope, {
        agentSlug: agent ?? undefined,
        routerSlug: router ?? undefined,
      }))
    )
      problems.push({
        subject,
        problem: `there is no ${answerer} to answer`,
        fix: 'Push it, or connect the number again',
      });
    if (
      contactType !== null &&
      !(await readEntityTypes(db, scope)).some(({ slug }) => slug === contactType)
    )
      problems.push({
        subject,
        problem: `there is no entity type "${contactType}" for its contacts`,
        fix: 'Push it',
      });
  }
  return problems;
}
