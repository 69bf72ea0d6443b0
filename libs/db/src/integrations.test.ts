import { randomBytes } from 'node:crypto';
import { openTestDatabase, seedOrganization } from '@parley/testing';
import { type Db, createDb } from './client';
import {
  findIntegration,
  listActiveIntegrations,
  listEnvironmentIntegrations,
  saveIntegration,
  sealedIntegrations,
  switchIntegration,
} from './integrations';
import { createSecretBox, resealStale, unreadableOf } from './secrets';

let db: Db;
beforeAll(async () => {
  db = await openTestDatabase(createDb);
});
afterAll(() => db.close());

it('stores one configuration of a provider in each environment, with encrypted secrets', async () => {
  const box = createSecretBox(randomBytes(32).toString('base64'));
  const { scope } = await seedOrganization(db.pool);
  const production = { ...scope, environment: 'production' as const };
  const save = (where: typeof scope, apiKey: string) =>
    saveIntegration(db, box, where, {
      provider: 'flow',
      config: { apiUrl: 'http://a' },
      secrets: { apiKey },
    });
  await save(scope, 'first-secret');
  await save(scope, 'second-secret');
  await save(production, 'other-secret');
  expect(await findIntegration(db, box, scope, 'flow')).toMatchObject({
    scope,
    active: true,
    config: { apiUrl: 'http://a' },
    secrets: { apiKey: 'second-secret' },
  });
  expect(await findIntegration(db, box, scope, 'kapso')).toBeNull();
  const { rows } = await db.pool.query('select secrets from integrations');
  expect(rows.map(({ secrets }) => (secrets as Buffer).toString('latin1')).join()).not.toContain(
    'secret',
  );

  const otherBox = createSecretBox(randomBytes(32).toString('base64'));
  expect((await findIntegration(db, otherBox, scope, 'flow'))?.secrets).toBeNull();

  expect(await listActiveIntegrations(db, box, 'flow')).toHaveLength(2);
  await db.pool.query('update integrations set active = false where environment = $1', [
    'production',
  ]);
  expect(await listActiveIntegrations(db, box, 'flow')).toMatchObject([{ scope }]);
  await db.pool.query('update organizations set deleted_at = now()');
  expect(await listActiveIntegrations(db, box, 'flow')).toEqual([]);
});

it('lists the active integrations of one environment, with a revision that changes at each update', async () => {
  const box = createSecretBox(randomBytes(32).toString('base64'));
  const { scope } = await seedOrganization(db.pool);
  const save = (provider: string, where = scope) =>
    saveIntegration(db, box, where, { provider, config: { provider }, secrets: {} });
  for (const provider of ['openai', 'mcp.crm', 'flow']) await save(provider);
  await save('kapso', { ...scope, environment: 'production' });
  await save('resend', (await seedOrganization(db.pool)).scope);
  await switchIntegration(db, scope, 'flow', false);
  const [before] = await listEnvironmentIntegrations(db, scope);
  expect(before).toMatchObject({
    provider: 'mcp.crm',
    config: { provider: 'mcp.crm' },
    secrets: expect.any(Buffer),
  });
  await save('mcp.crm');
  const listed = await listEnvironmentIntegrations(db, scope);
  expect(listed.map(({ provider }) => provider)).toEqual(['mcp.crm', 'openai']);
  expect(listed[0]).toMatchObject({ id: before!.id });
  expect(listed[0]!.revision).not.toBe(before!.revision);
});

it('encrypts again with the new key the secrets that an older key has encrypted', async () => {
  const [older, newer, lost] = [1, 2, 3].map(() => randomBytes(32).toString('base64')) as [
    string,
    string,
    string,
  ];
  await db.pool.query('delete from integrations');
  const { scope } = await seedOrganization(db.pool);
  const save = (key: string, provider: string) =>
    saveIntegration(db, createSecretBox(key), scope, {
      provider,
      config: {},
      secrets: { apiKey: provider },
    });
  await save(older, 'flow');
  await save(lost, 'kapso');
  await save(newer, 'resend');
  const rotating = createSecretBox(`${newer},${older}`);
  const { resealed, unreadable } = await resealStale(rotating, await sealedIntegrations(db));
  expect([resealed, unreadable.length]).toEqual([1, 1]);
  expect((await findIntegration(db, createSecretBox(newer), scope, 'flow'))?.secrets).toEqual({
    apiKey: 'flow',
  });
  expect(await resealStale(rotating, await sealedIntegrations(db))).toMatchObject({ resealed: 0 });
});

it('reports the integrations whose secrets no key decrypts, with their organizations', async () => {
  await db.pool.query('delete from integrations');
  const box = createSecretBox(randomBytes(32).toString('base64'));
  const { scope } = await seedOrganization(db.pool, { slug: 'acme' });
  for (const [provider, writer] of [
    ['flow', box],
    ['kapso', createSecretBox(randomBytes(32).toString('base64'))],
  ] as const)
    await saveIntegration(db, writer, scope, { provider, config: {}, secrets: { apiKey: 'x' } });
  expect(unreadableOf(box, await sealedIntegrations(db))).toEqual([
    'integration kapso in development of acme',
  ]);
});
