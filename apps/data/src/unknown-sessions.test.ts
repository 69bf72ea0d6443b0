import { randomBytes } from 'node:crypto';
import { createTestDatabase, seedPerson } from '@parley/testing';
import { keyLimitOf } from '@parley/service';
import { type TestApi, createTestApi } from './testing/create-test-api';

let api: TestApi;
let tenant: number;

beforeAll(async () => {
  const keyLimit = keyLimitOf({ TRUSTED_PROXIES: [], UNKNOWN_KEYS_PER_ADDRESS: 5 });
  api = createTestApi(await createTestDatabase(), { keyLimit });
  tenant = await api.organization();
});
afterAll(() => api.close());
afterEach(() => jest.restoreAllMocks());

const unknownToken = () => randomBytes(32).toString('base64url');
/** A request as the gateway, which is on this machine, forwards it. */
const from = (address: string, headers: Record<string, string>) =>
  api.call('get', '/v1/entity-types', undefined, undefined, {
    'X-Forwarded-For': address,
    ...headers,
  });
const withToken = (address: string, token: string) =>
  from(address, { Cookie: `__Host-parley_session=${token}` });
const statusesOf = async (requests: PromiseLike<{ status: number }>[]) =>
  (await Promise.all(requests)).map(({ status }) => status);
const times = <T>(count: number, one: () => T): T[] => Array.from({ length: count }, one);

function spyOnLookUps() {
  const spy = jest.spyOn(api.db, 'acrossTenants');
  return () => spy.mock.calls.filter(([reason]) => reason === 'session look-up').length;
}

test('unknown sessions of an address are answered with 429 before a query; a session in use keeps working', async () => {
  const person = await seedPerson(api.db.pool, { tenant, role: 'member' });
  const lookUps = spyOnLookUps();
  expect((await from('203.0.113.1', person.headers)).status).toBe(200);
  expect(lookUps()).toBe(1);
  const statuses = await statusesOf(times(40, () => withToken('203.0.113.1', unknownToken())));
  expect(statuses.filter((status) => status === 401)).toHaveLength(5);
  expect(statuses.filter((status) => status === 429)).toHaveLength(35);
  expect(lookUps()).toBe(6);
  const refused = await withToken('203.0.113.1', unknownToken());
  expect(refused.body).toMatchObject({
    error: 'Too many unknown sessions from this address',
    code: 'too_many_unknown_sessions',
    retryAt: expect.any(Number),
  });
  expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
  expect((await from('203.0.113.1', person.headers)).status).toBe(200);
  expect((await withToken('203.0.113.2', unknownToken())).status).toBe(401);
});

test('a client cannot choose the address for which its unknown sessions count', async () => {
  const inOrder: number[] = [];
  for (let at = 0; at < 7; at += 1)
    inOrder.push((await withToken(`1.2.3.${at}, 10.9.8.7`, unknownToken())).status);
  expect(inOrder).toEqual([401, 401, 401, 401, 401, 429, 429]);
});

test('a malformed session is refused without a query, and the same unknown one is looked up once', async () => {
  const lookUps = spyOnLookUps();
  for (const token of ['x', 'a'.repeat(44), `${'a'.repeat(42)}!`])
    expect(await statusesOf(times(8, () => withToken('203.0.113.3', token)))).toEqual(
      times(8, () => 401),
    );
  expect(lookUps()).toBe(0);
  const token = unknownToken();
  for (let at = 0; at < 8; at += 1)
    expect((await withToken('203.0.113.3', token)).status).toBe(401);
  expect(lookUps()).toBe(1);
});

test('sessions that have ended do not count: an office may keep any number of their cookies', async () => {
  const people = await Promise.all(
    times(8, () => seedPerson(api.db.pool, { tenant, role: 'member' })),
  );
  for (const { signOut } of people) await signOut();
  expect(await statusesOf(people.map(({ headers }) => from('203.0.113.4', headers)))).toEqual(
    people.map(() => 401),
  );
  const late = await seedPerson(api.db.pool, { tenant, role: 'member' });
  expect((await from('203.0.113.4', late.headers)).status).toBe(200);
  await late.signOut();
  expect((await from('203.0.113.4', late.headers)).status).toBe(401);
});
