import { type Db, createDb } from '@parley/db';
import { type SeededOrganization, openTestDatabase, seedOrganization } from '@parley/testing';
import { createIdentify } from './identify';

let db: Db;
let seeded: SeededOrganization;

beforeAll(async () => {
  db = await openTestDatabase(createDb);
  seeded = await seedOrganization(db.pool, { permissions: ['chat'] });
});

afterAll(() => db.close());

const identified = (authorization?: string) => createIdentify(db)({ headers: { authorization } });

it('returns the caller of the key in the Authorization header', async () => {
  const caller = { type: 'api_key', ...seeded.scope, permissions: new Set(['chat']), role: null };
  expect(await identified(`Bearer ${seeded.key}`)).toMatchObject(caller);
  expect(await identified(`bearer   ${seeded.key} `)).toMatchObject(caller);
});

it.each([
  '',
  'Bearer',
  'Bearer ',
  'Bearer unknown',
  'Basic KEY',
  'KEY',
  'Bearer KEY x',
  'Bearer "KEY"',
  'BearerKEY',
])('returns null for the header %j', async (header) =>
  expect(await identified(header.replace('KEY', seeded.key))).toBeNull(),
);

it('returns null without a header', async () => expect(await identified()).toBeNull());
