import { createDb } from '@parley/db';
import { openTestDatabase, seedOrganization } from '@parley/testing';
import { auditPurge, listAuditLog, recordAudit } from './index';

const actor = { type: 'command', id: null, name: null } as const;

test('entries belong to their tenant and environment, and a purge deletes them', async () => {
  const db = await openTestDatabase(createDb);
  const [one, other] = [await seedOrganization(db.pool), await seedOrganization(db.pool)];
  for (const { scope } of [one, other]) {
    await recordAudit(
      db,
      scope,
      { actor },
      { action: 'a.b', target: { type: 't', id: scope.organizationId } },
    );
    await recordAudit(db, { ...scope, environment: null }, { actor }, { action: 'a.c' });
  }
  const page = { limit: 10, before: null };
  const list = async (scope = one.scope) => (await listAuditLog(db, scope, page)).items;
  expect((await list()).map(({ action }) => action)).toEqual(['a.c', 'a.b']);
  expect((await list())[1]!.targetId).toBe(one.scope.organizationId);
  expect(
    (await list({ ...one.scope, environment: 'production' })).map(({ action }) => action),
  ).toEqual(['a.c']);
  for (const step of [auditPurge].flat()) await db.transaction((tx) => step(tx, one.scope));
  expect([(await list()).length, (await list(other.scope)).length]).toEqual([0, 2]);
  await db.close();
});
