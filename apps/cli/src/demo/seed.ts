import type { Scope } from '@parley/contracts';
import { type Db, type Queryable, newId } from '@parley/db';
import {
  type Organization,
  changeSettings,
  createApiKey,
  insertOrganization,
  listApiKeys,
  listOrganizations,
  readSettings,
} from '@parley/identity';
import { createEntities } from '@parley/entities';
import { type PushRequest, pushResources } from '@parley/resources';
import { builtInToolNames } from '@parley/tools';
import { Failure } from '../failure';
import { demoSlug } from '../organizations';
import { developmentResources, productionResources } from './resources';
import { demoRows } from './rows';

const keyName = 'demo';

/**
 * Creates the demo organization, its definitions, data and key, each once. Later changes of
 * people are kept. A lock makes concurrent runs wait for each other; the next run finishes one
 * that was killed.
 */
export const seedDemo = (db: Db, { newKey = false } = {}): Promise<{ key: string | null }> =>
  db.locked('parley-demo', async (turn) => {
    const { id: organizationId, tenant } = await demoOrganization(turn);
    const development: Scope = { organizationId, tenant, environment: 'development' };
    if ((await readSettings(turn, organizationId)).demoSeeded !== true) {
      await pushOnce(db, development, developmentResources);
      await pushOnce(db, { ...development, environment: 'production' }, productionResources);
      await insertRows(db, development);
    }
    return {
      key: newKey || !(await hasKey(turn, development)) ? await makeKey(turn, development) : null,
    };
  });

async function demoOrganization(db: Queryable): Promise<Organization> {
  await insertOrganization(db, { id: newId('org'), slug: demoSlug, name: 'Demo shop' });
  const [organization] = await listOrganizations(db, demoSlug);
  if (organization === undefined)
    throw new Failure(`The organization "${demoSlug}" is being deleted`);
  return organization;
}

/** Expects version 0, so that an environment with definitions of another push is not changed. */
async function pushOnce(db: Db, scope: Scope, resources: PushRequest['resources']): Promise<void> {
  const pushed = await pushResources(db, scope, {
    resources,
    expectedVersion: 0,
    knownTools: builtInToolNames,
    source: { actor: { type: 'command', id: null, name: 'parley demo' } },
    mayGrantRights: true,
  });
  if (!pushed.ok && pushed.reason === 'invalid') {
    const problems = pushed.problems.map(({ path, message }) => `${path}: ${message}`);
    throw new Error(`The demo's own definitions are refused: ${problems.join('; ')}`);
  }
}

/** Inserts all rows and the flag `demoSeeded` in one transaction. */
async function insertRows(db: Db, scope: Scope): Promise<void> {
  const entities = createEntities({ db });
  await db.transaction(async (client) => {
    for (const [type, rows] of Object.entries(demoRows)) {
      for (const data of rows) {
        const created = await entities.create(
          scope,
          { type, data, actor: { type: 'system' } },
          client,
        );
        // The environment may have other definitions, without the demo's types (pushOnce).
        if (!created.ok && created.reason === 'type_not_found') break;
        if (!created.ok) throw new Error(`The demo's own ${type} is refused: ${created.reason}`);
      }
    }
    await changeSettings(client, scope.organizationId, { demoSeeded: true });
  });
  await entities.settled();
}

async function hasKey(db: Queryable, scope: Scope): Promise<boolean> {
  const keys = await listApiKeys(db, scope);
  return keys.some(
    ({ name, environment, revokedAt, permissions }) =>
      name === keyName &&
      environment === scope.environment &&
      revokedAt === null &&
      permissions.includes('manage'),
  );
}

async function makeKey(db: Queryable, scope: Scope): Promise<string> {
  const { key } = await createApiKey(db, { ...scope, name: keyName, permissions: ['*', 'manage'] });
  return key;
}
