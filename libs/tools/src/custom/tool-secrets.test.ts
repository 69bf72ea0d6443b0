import { randomBytes } from 'node:crypto';
import type { ToolDefinition } from '@parley/contracts';
import { type Db, createDb, createSecretBox, resealStale, unreadableOf } from '@parley/db';
import { openTestDatabase, seedOrganization } from '@parley/testing';
import {
  deleteToolSecret,
  listToolSecrets,
  readToolSecrets,
  sealedToolSecrets,
  setToolSecret,
} from './tool-secrets';

let db: Db;
const keys = [randomBytes(32).toString('base64'), randomBytes(32).toString('base64')] as const;
const box = createSecretBox(keys[0]);

const tool = (name: string, secrets?: string[]): ToolDefinition => ({
  name,
  description: 'For tests.',
  parameters: {},
  handlerCode: 'return 1',
  ...(secrets && { secrets }),
});
const seed = async () =>
  (
    await seedOrganization(db.pool, {
      tools: [tool('b.use', ['KEY', 'OTHER']), tool('a.use', ['KEY']), tool('c')],
    })
  ).scope;

beforeAll(async () => {
  db = await openTestDatabase(createDb);
});
beforeEach(() => db.pool.query('delete from tool_secrets'));
afterAll(() => db.close());

it('stores a secret encrypted, replaces it, and lists it without its value with the tools that declare it', async () => {
  const scope = await seed();
  const first = await setToolSecret(db, box, scope, { name: 'KEY', value: 'first-value' });
  const second = await setToolSecret(db, box, scope, { name: 'KEY', value: 'second-value' });
  await setToolSecret(db, box, scope, { name: 'UNUSED', value: 'third-value' });
  expect(second!.setAt).toBeGreaterThanOrEqual(first!.setAt);
  expect(await readToolSecrets(db, box, scope, ['KEY', 'OTHER'])).toEqual({
    values: { KEY: 'second-value' },
    missing: ['OTHER'],
    unreadable: [],
  });
  const listed = await listToolSecrets(db, scope);
  expect(listed).toEqual([
    { name: 'KEY', setAt: second!.setAt, tools: ['a.use', 'b.use'] },
    { name: 'OTHER', setAt: null, tools: ['b.use'] },
    { name: 'UNUSED', setAt: expect.any(Number), tools: [] },
  ]);
  const { rows } = await db.pool.query('select * from tool_secrets');
  expect(rows.map(({ value }) => (value as Buffer).toString('latin1')).join()).not.toContain(
    'value',
  );
});

it('belongs to one environment of one organization, also as an encrypted value', async () => {
  const [mine, theirs] = [await seed(), await seed()];
  const production = { ...mine, environment: 'production' as const };
  await setToolSecret(db, box, mine, { name: 'KEY', value: 'mine-value' });
  for (const scope of [theirs, production]) {
    expect(await readToolSecrets(db, box, scope, ['KEY'])).toMatchObject({
      values: {},
      missing: ['KEY'],
    });
    expect((await listToolSecrets(db, scope)).filter(({ setAt }) => setAt !== null)).toEqual([]);
    expect(await deleteToolSecret(db, scope, 'KEY')).toBe(false);
  }
  // A row that someone moves to another tenant or another name cannot be decrypted there.
  await db.pool.query('update tool_secrets set tenant = $1', [theirs.tenant]);
  expect(await readToolSecrets(db, box, theirs, ['KEY'])).toMatchObject({
    values: {},
    unreadable: ['KEY'],
  });
  await db.pool.query(`update tool_secrets set tenant = $1, name = 'OTHER'`, [mine.tenant]);
  expect(await readToolSecrets(db, box, mine, ['OTHER'])).toMatchObject({
    values: {},
    unreadable: ['OTHER'],
  });
  expect(await deleteToolSecret(db, mine, 'OTHER')).toBe(true);
});

it('has at most 100 secrets in an environment, also when they are set at the same time', async () => {
  const scope = await seed();
  const set = (name: string) =>
    db.transaction((tx) => setToolSecret(tx, box, scope, { name, value: 'some-value' }));
  const results = await Promise.all(Array.from({ length: 104 }, (_, index) => set(`S${index}`)));
  expect(results.filter((result) => result === null)).toHaveLength(4);
  const kept = results.find((result) => result !== null)!.name;
  expect(await set(kept)).not.toBeNull();
  await deleteToolSecret(db, scope, kept);
  expect(await set('ONE_MORE')).not.toBeNull();
  expect(
    await setToolSecret(
      db,
      box,
      { ...scope, environment: 'production' },
      { name: 'S', value: 'more' },
    ),
  ).not.toBeNull();
});

it('is encrypted again with the first key of SECRETS_KEY, and reported when no key decrypts it', async () => {
  const scope = await seed();
  await setToolSecret(db, box, scope, { name: 'KEY', value: 'some-value' });
  const [rotated, other] = [createSecretBox(`${keys[1]},${keys[0]}`), createSecretBox(keys[1])];
  expect(await readToolSecrets(db, other, scope, ['KEY'])).toMatchObject({
    values: {},
    unreadable: ['KEY'],
  });
  const lost = [expect.stringMatching(/^tool secret KEY in development of org_/)];
  expect(unreadableOf(other, await sealedToolSecrets(db))).toEqual(lost);
  expect(await resealStale(other, await sealedToolSecrets(db))).toEqual({
    resealed: 0,
    unreadable: lost,
  });
  expect(await resealStale(rotated, await sealedToolSecrets(db))).toEqual({
    resealed: 1,
    unreadable: [],
  });
  expect(await resealStale(rotated, await sealedToolSecrets(db))).toEqual({
    resealed: 0,
    unreadable: [],
  });
  expect(await readToolSecrets(db, other, scope, ['KEY'])).toMatchObject({
    values: { KEY: 'some-value' },
  });
  expect(unreadableOf(other, await sealedToolSecrets(db))).toEqual([]);
});
