import { type Db, createDb } from '@parley/db';
import { type SeededOrganization, type TestDatabase, createTestDatabase, seedOrganization } from '@parley/testing';
import { createIdentify } from './identify';

let database: TestDatabase;
let db: Db;
let seeded: SeededOrganization;

beforeAll(async () => {
  database = await createTestDatabase();
  db = createDb({ databaseUrl: database.url });
  seeded = await seedOrganization(db.pool, { permissions: ['chat'] });
});

afterAll(async () => {
  await db.close();
  await database.drop();
});

const identified = (authorization?: string) => createIdentify(db)({ headers: { authorization } });

it('takes the key of an Authorization header for an API key of its environment', async () => {
  const caller = { type: 'api_key', ...seeded.scope, permissions: new Set(['chat']), role: null };
  expect(await identified(`Bearer ${seeded.key}`)).toMatchObject(caller);
  expect(await identified(`bearer   ${seeded.key} `)).toMatchObject(caller);
});

it.each(['', 'Bearer', 'Bearer ', 'Bearer nobody', 'Basic KEY', 'KEY', 'Bearer KEY x', 'Bearer "KEY"', 'BearerKEY'])(
  'knows nobody by the header %j',
  async (header) => expect(await identified(header.replace('KEY', seeded.key))).toBeNull(),
);

it('knows nobody without a header', async () => expect(await identified()).toBeNull());
