import { openTestDatabase, until } from '@parley/testing';
import { createDb, type Db, prismaOf } from '@parley/db';
import { createApiKey, createApiKeyCheck, listApiKeys, revokeApiKey } from './api-keys';

let db: Db;

beforeAll(async () => {
  db = await openTestDatabase(createDb);
  await prismaOf(db).organization.create({ data: { id: 'org_a', no: 1, slug: 'a', name: 'A' } });
  await prismaOf(db).organization.create({ data: { id: 'org_b', no: 2, slug: 'b', name: 'B' } });
});

afterAll(() => db.close());

const newKey = (extra: object = {}) =>
  createApiKey(db, {
    tenant: 1,
    environment: 'development',
    name: 'test',
    permissions: ['chat', 'data'],
    ...extra,
  });

/** A clock that tests set, and a database that counts queries for keys. */
function checked() {
  // LRUCache treats 0 as an unset time.
  let nowMs = 1;
  let lookUps = 0;
  const counting = new Proxy(db, {
    get(target, name) {
      if (name !== 'acrossTenants') return Reflect.get(target, name);
      return (...args: unknown[]) => {
        lookUps += 1;
        return Reflect.apply(target.acrossTenants, target, args);
      };
    },
  });
  return {
    check: createApiKeyCheck(counting, () => nowMs),
    advance: (ms: number) => (nowMs += ms),
    lookUps: () => lookUps,
  };
}

describe('createApiKey', () => {
  it('marks the environment in the prefix and stores only a hash', async () => {
    const development = await newKey();
    const production = await newKey({ environment: 'production' });
    expect(development.key).toMatch(/^sk_dev_[\w-]{43}$/);
    expect(production.key).toMatch(/^sk_prod_[\w-]{43}$/);
    const { rows } = await db.pool.query('select api_keys::text as row from api_keys');
    expect(JSON.stringify(rows)).not.toContain(development.key.slice(14));
  });
});

describe('createApiKeyCheck', () => {
  it('returns the tenant, environment, permissions and role of a key', async () => {
    const { id, key } = await newKey({ environment: 'production', role: 'clerk' });
    expect(await checked().check(key)).toEqual({
      type: 'api_key',
      id,
      name: 'test',
      organizationId: 'org_a',
      tenant: 1,
      environment: 'production',
      permissions: new Set(['chat', 'data']),
      role: 'clerk',
    });
  });

  it('queries the database once while the answer is cached, also for concurrent requests', async () => {
    const { key } = await newKey();
    const { check, lookUps } = checked();
    await Promise.all(Array.from({ length: 20 }, () => check(key)));
    await check(key);
    expect(lookUps()).toBe(1);
  });

  it('refuses a revoked key within a second', async () => {
    const { id, key } = await newKey();
    const { check, advance } = checked();
    expect(await check(key)).not.toBeNull();
    expect(await revokeApiKey(db, { tenant: 1 }, id)).toBe(1);
    advance(1_000);
    expect(await check(key)).toBeNull();
  });

  it('counts the age of an answer from the start of the query', async () => {
    const { id, key } = await newKey();
    await db.pool.query('update api_keys set last_used_at = now() where id = $1', [id]);
    let nowMs = 1;
    const slow = new Proxy(db, {
      get: (target, name) => {
        nowMs += 800;
        return Reflect.get(target, name);
      },
    });
    const check = createApiKeyCheck(slow, () => nowMs);
    expect(await check(key)).not.toBeNull();
    await revokeApiKey(db, { tenant: 1 }, id);
    nowMs += 2;
    expect(await check(key)).toBeNull();
  });

  it('refuses an expired key, even if it expires while it is cached', async () => {
    const { key: expired } = await newKey({ expiresAt: new Date(Date.now() - 1) });
    const { key: expiring } = await newKey({ expiresAt: new Date(Date.now() + 2_000) });
    const { check, lookUps } = checked();
    expect(await check(expired)).toBeNull();
    expect(await check(expiring)).not.toBeNull();
    const before = lookUps();
    await until(async () => (await check(expiring)) === null);
    expect(lookUps()).toBe(before);
  });

  it('queries once for an unknown key and never for a malformed one', async () => {
    const { check, lookUps } = checked();
    const unknown = `sk_dev_${'a'.repeat(43)}`;
    for (const token of [
      '',
      'sk_dev_short',
      `sk_test_${'a'.repeat(43)}`,
      `${unknown}\u0000`,
      "' or 1=1 --",
    ]) {
      expect(await check(token)).toBeNull();
    }
    expect(lookUps()).toBe(0);
    expect(await check(unknown)).toBeNull();
    expect(await check(unknown)).toBeNull();
    expect(lookUps()).toBe(1);
  });

  it('refuses the keys of a deleted organization', async () => {
    const { key } = await newKey({ tenant: 2 });
    expect(await checked().check(key)).not.toBeNull();
    await prismaOf(db).organization.update({
      where: { id: 'org_b' },
      data: { deletedAt: new Date() },
    });
    expect(await checked().check(key)).toBeNull();
  });

  it('rejects when the database fails', async () => {
    const { key } = await newKey();
    const broken = createDb({ databaseUrl: 'postgres://unused@127.0.0.1:1/none' });
    await expect(createApiKeyCheck(broken)(key)).rejects.toThrow();
    await broken.close();
  });
});

describe('listApiKeys and revokeApiKey', () => {
  it('are limited to the organization', async () => {
    const { id, key } = await newKey({ name: 'mine' });
    expect(await revokeApiKey(db, { tenant: 2 }, id)).toBe(0);
    expect(await revokeApiKey(db, { tenant: 2 }, key)).toBe(0);
    expect(await listApiKeys(db, { tenant: 2 })).not.toContainEqual(
      expect.objectContaining({ id }),
    );
    expect(await listApiKeys(db, { tenant: 1 })).toContainEqual(
      expect.objectContaining({ id, name: 'mine', revokedAt: null, permissions: ['chat', 'data'] }),
    );
  });

  it('revokes the one key that is given whole', async () => {
    const { key } = await newKey();
    const other = await newKey();
    expect(await revokeApiKey(db, { tenant: 1 }, key)).toBe(1);
    expect(await revokeApiKey(db, { tenant: 1 }, key)).toBe(0);
    expect(await checked().check(key)).toBeNull();
    expect(await checked().check(other.key)).not.toBeNull();
  });
});
