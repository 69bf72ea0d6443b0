import type { JsonObject, Scope } from '@parley/contracts';
import { type Db, type Queryable, createApiKey, inTransaction, newId } from '@parley/db';
import { type PushRequest, pushResources } from '@parley/resources';
import { Failure } from '../failure';
import { type Organization, demoSlug, insertOrganization } from '../organizations';
import { developmentResources, productionResources } from './resources';
import { demoRows } from './rows';

const keyName = 'demo';
const knownTools = ['entity.query', 'entity.get'];

/**
 * Makes the demo organization, its definitions, its data and its key: each once. What a person has changed since is
 * left alone. Runs that come together take turns; one that was killed is finished by the next.
 */
export async function seedDemo(db: Db, { newKey = false } = {}): Promise<{ key: string | null }> {
  const turn = await db.pool.connect();
  try {
    await turn.query("select pg_advisory_lock(hashtextextended('parley-demo', 0))");
    const { id: organizationId, seeded } = await demoOrganization(turn);
    const development: Scope = { organizationId, environment: 'development' };
    if (!seeded) {
      await pushOnce(db, development, developmentResources);
      await pushOnce(db, { organizationId, environment: 'production' }, productionResources);
      for (const [type, rows] of Object.entries(demoRows)) await insertOnce(db, development, type, rows);
      await turn.query(`update organizations set settings = settings || '{"demoSeeded": true}' where id = $1`, [
        organizationId,
      ]);
    }
    return { key: newKey || !(await hasKey(turn, development)) ? await makeKey(turn, development) : null };
  } finally {
    // Ending the connection gives the lock back.
    turn.release(true);
  }
}

async function demoOrganization(db: Queryable): Promise<Organization & { seeded: boolean }> {
  await insertOrganization(db, { id: newId('org'), slug: demoSlug, name: 'Demo shop' });
  const { rows } = await db.query<Organization & { seeded: boolean }>(
    `select id, slug, settings @> '{"demoSeeded": true}' as seeded from organizations
     where slug = $1 and deleted_at is null`,
    [demoSlug],
  );
  if (rows[0] === undefined) throw new Failure(`The organization "${demoSlug}" is being deleted`);
  return rows[0];
}

/** Version 0: an environment that anything was pushed to belongs to whoever pushed. */
async function pushOnce(db: Db, scope: Scope, resources: PushRequest['resources']): Promise<void> {
  const pushed = await pushResources(db, scope, { resources, expectedVersion: 0, knownTools });
  if (!pushed.ok && pushed.reason === 'invalid') {
    const problems = pushed.problems.map(({ path, message }) => `${path}: ${message}`);
    throw new Error(`The demo's own definitions are refused: ${problems.join('; ')}`);
  }
}

/** All rows of a type or none: a type that has any was filled before. */
async function insertOnce(db: Db, scope: Scope, type: string, rows: JsonObject[]): Promise<void> {
  await inTransaction(db.pool, async (client) => {
    const { rows: types } = await client.query<{ no: number; filled: boolean }>(
      `select no, exists (select 1 from entities where part in (t.no, -t.no)) as filled from entity_types t
       where organization_id = $1 and environment = $2::"Environment" and slug = $3`,
      [scope.organizationId, scope.environment, type],
    );
    if (types[0] === undefined || types[0].filled) return;
    const nowMs = Date.now();
    await client.query(
      `insert into entities (id, organization_id, environment, part, segment, pos, status, data, created_at, updated_at)
       select r.id, $1, $2::"Environment", $3, 0, $5::bigint * 2097152 + nextval('entity_sequence') % 2097152, 'active', r.data, $5, $5
       from json_to_recordset($4::json) as r(id text, data jsonb)`,
      [
        scope.organizationId,
        scope.environment,
        types[0].no,
        JSON.stringify(rows.map((data) => ({ id: newId('ent'), data }))),
        nowMs,
      ],
    );
  });
}

async function hasKey(db: Queryable, scope: Scope): Promise<boolean> {
  const { rowCount } = await db.query(
    `select 1 from api_keys where organization_id = $1 and environment = $2::"Environment" and name = $3
       and revoked_at is null limit 1`,
    [scope.organizationId, scope.environment, keyName],
  );
  return rowCount !== 0;
}

async function makeKey(db: Queryable, scope: Scope): Promise<string> {
  const { key } = await createApiKey(db, { ...scope, name: keyName, permissions: ['*'] });
  return key;
}
