import { randomBytes } from 'node:crypto';
import {
  type Db,
  createDb,
  createSecretBox,
  integrationSecretContext,
  saveIntegration,
} from '@parley/db';
import { openTestDatabase, seedOrganization } from '@parley/testing';
import { createOrganizationKeys } from './provider-keys';

let db: Db;
beforeAll(async () => {
  db = await openTestDatabase(createDb);
});
afterAll(() => db.close());

it("decrypts an organization's own keys, each only for its provider and environment, and omits invalid ones", async () => {
  const box = createSecretBox(randomBytes(32).toString('base64'));
  const { scope } = await seedOrganization(db.pool);
  const other = await seedOrganization(db.pool);
  const problems: string[] = [];
  const log = {
    info: () => {},
    warn: () => {},
    error: (_fields: unknown, message: string) => problems.push(message),
  };
  const insert = (provider: string, secret: Buffer | null, config = {}, active = true) =>
    db.pool.query(
      `insert into integrations (id, tenant, environment, provider, active, config, secrets, updated_at)
       values ($1, $2, 'development', $3, $4, $5, $6, now())`,
      [`int_${provider}`, scope.tenant, provider, active, JSON.stringify(config), secret],
    );
  const seal = (provider: string) =>
    box.seal('{"apiKey":"own-key"}', integrationSecretContext(scope, provider));
  // The form in which `parley integrations set` stores it.
  const own = {
    provider: 'openai',
    config: { baseUrl: 'http://models.test/v1' },
    secrets: { apiKey: 'own-key' },
  };
  await saveIntegration(db, box, scope, own);
  await insert('ollama', null, { baseUrl: 'http://ollama.test' });
  await insert('anthropic', seal('openai'));
  await insert('google', seal('google'), {}, false);
  await insert('flow', seal('flow'));
  await insert('mcp.crm', seal('mcp.crm'), { url: 'https://crm.test/mcp' });
  const keys = createOrganizationKeys(db, box, log);
  expect(await keys(scope)).toEqual({
    openai: { apiKey: 'own-key', baseUrl: 'http://models.test/v1' },
    ollama: { apiKey: undefined, baseUrl: 'http://ollama.test' },
  });
  expect(problems).toEqual(['the key of a model provider could not be decrypted']);
  expect(await keys(other.scope)).toEqual({});
  expect(await keys({ ...scope, environment: 'production' })).toEqual({});
});
