import { randomBytes } from 'node:crypto';
import { type Db, createDb, createSecretBox, saveIntegration, switchIntegration } from '@parley/db';
import { openTestDatabase, seedOrganization } from '@parley/testing';
import { createAccounts } from './accounts';

const newBox = () => createSecretBox(randomBytes(32).toString('base64'));
const settings = {
  KAPSO_API_URL: 'http://kapso.example',
  RESEND_API_URL: 'http://resend.example',
  STAND_INS_URL: 'http://127.0.0.1:1',
};

let db: Db;
beforeAll(async () => {
  db = await openTestDatabase(createDb);
});
afterAll(() => db.close());

describe.each(['kapso', 'resend'] as const)('%s with the stand-ins of development', (provider) => {
  test('the stand-in replaces a missing integration in development, never a disabled or unreadable one', async () => {
    const box = newBox();
    const { scope } = await seedOrganization(db.pool);
    const find = (readableWith = box, where = scope) =>
      createAccounts(db, readableWith, settings)[provider](where);
    const standIn = {
      apiUrl: `${settings.STAND_INS_URL}/${provider}`,
      apiKey: `offline-${scope.organizationId}`,
    };
    expect(await find()).toMatchObject(standIn);
    expect(await find(box, { ...scope, environment: 'production' })).toBeNull();

    await saveIntegration(db, box, scope, { provider, config: {}, secrets: { apiKey: 'own' } });
    expect(await find()).toMatchObject({ apiUrl: `http://${provider}.example`, apiKey: 'own' });
    expect(await find(newBox())).toBeNull();
    await switchIntegration(db, scope, provider, false);
    expect(await find()).toBeNull();
  });

  test("the key of the process is not sent to an address in an organization's settings", async () => {
    const box = newBox();
    const { scope } = await seedOrganization(db.pool, { slug: `own-${provider}` });
    const ofProcess = { ...settings, KAPSO_API_KEY: 'process-key', RESEND_API_KEY: 'process-key' };
    const find = (readableWith: typeof box) =>
      createAccounts(db, readableWith, ofProcess)[provider](scope);
    const config = { apiUrl: 'http://own.example' };
    await saveIntegration(db, box, scope, { provider, config, secrets: { apiKey: 'own' } });
    expect(await find(box)).toMatchObject({ apiUrl: 'http://own.example', apiKey: 'own' });
    expect(await find(newBox())).toMatchObject({
      apiUrl: `http://${provider}.example`,
      apiKey: 'process-key',
    });
  });
});
