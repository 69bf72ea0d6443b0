import { randomBytes } from 'node:crypto';
import { createTestDatabase, until } from '@parley/testing';
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

const unknownKey = () => `sk_dev_${randomBytes(32).toString('base64url')}`;
/** A request as the gateway, which is on this machine, forwards it. */
const from = (address: string, key: string) =>
  api.call('get', '/v1/entity-types', key, undefined, { 'X-Forwarded-For': address });
const statusFrom = async (address: string, key: string) => (await from(address, key)).status;

test('unknown keys of an address are answered with 429 before a query; keys that are in use keep working', async () => {
  const inUse = await api.key({ tenant });
  expect(await statusFrom('203.0.113.1', inUse)).toBe(200);
  const lookUps = jest.spyOn(api.db, 'acrossTenants');
  const statuses = await Promise.all(
    Array.from({ length: 40 }, () => statusFrom('203.0.113.1', unknownKey())),
  );
  expect(statuses.filter((status) => status === 401)).toHaveLength(5);
  expect(statuses.filter((status) => status === 429)).toHaveLength(35);
  expect(lookUps.mock.calls.filter(([reason]) => reason === 'key look-up')).toHaveLength(5);
  const refused = await from('203.0.113.1', unknownKey());
  expect(refused.body).toMatchObject({
    error: 'Too many unknown API keys from this address',
    code: 'too_many_unknown_keys',
    retryAt: expect.any(Number),
  });
  expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
  expect(Number(refused.headers['retry-after'])).toBeLessThanOrEqual(60);
  // Also after the key has left the cache, so that it is looked up again.
  const lookUpsOfKeys = () =>
    lookUps.mock.calls.filter(([reason]) => reason === 'key look-up').length;
  const before = lookUpsOfKeys();
  await until(async () => {
    expect(await statusFrom('203.0.113.1', inUse)).toBe(200);
    return lookUpsOfKeys() > before;
  });
});

test('other addresses are not affected, and a client cannot choose its address', async () => {
  const key = await api.key({ tenant });
  await Promise.all(
    Array.from({ length: 10 }, () => from('198.51.100.7, 203.0.113.2', unknownKey())),
  );
  expect(await statusFrom('1.2.3.4, 203.0.113.2', unknownKey())).toBe(429);
  expect(await statusFrom('203.0.113.3', key)).toBe(200);
  expect(await statusFrom('198.51.100.7', unknownKey())).toBe(401);
});

test('any number of keys that exist may share an address', async () => {
  const keys = await Promise.all(Array.from({ length: 20 }, () => api.key({ tenant })));
  const statuses = await Promise.all(keys.map((key) => statusFrom('203.0.113.4', key)));
  expect(new Set(statuses)).toEqual(new Set([200]));
});

test('a key that is unknown is looked up once and refused with 401 afterwards', async () => {
  const key = unknownKey();
  for (let at = 0; at < 8; at += 1) expect(await statusFrom('203.0.113.5', key)).toBe(401);
});
