import { setTimeout as sleep } from 'node:timers/promises';
import type { Caller } from '@parley/contracts';
import { type Db, createDb, createIdempotencyStore } from '@parley/db';
import { openTestDatabase, startTcpProxy, until } from '@parley/testing';
import request from 'supertest';
import { z } from 'zod';
import { silentLogger } from '../process/logger';
import { createApp } from './create-app';
import { HttpError, notFound } from './errors';
import type { IdempotencyStore } from './idempotency-store';
import { route } from './route';

const keyOf = (id: string): Caller => ({
  type: 'api_key',
  id,
  name: id,
  organizationId: 'o1',
  tenant: 11,
  environment: 'development',
  permissions: new Set(['*']),
  role: null,
});

let db: Db & { url: string };
beforeAll(async () => {
  db = await openTestDatabase(createDb);
});
afterAll(() => db.close());

/** Keys that are no longer valid. */
const revoked = new Set<string>();
/** The operation id of each run of the handler. */
let runs: (string | undefined)[] = [];
let behave: () => Promise<unknown> = async () => ({});
beforeEach(() => {
  runs = [];
  behave = async () => ({ run: runs.length });
});

function createTestApp(
  store: Db = db,
  idempotency: IdempotencyStore = createIdempotencyStore(store),
) {
  return createApp({
    log: silentLogger(),
    checkResponses: true,
    async identify({ headers }) {
      const key = headers.authorization!.slice('Bearer '.length);
      return revoked.has(key) ? null : keyOf(key);
    },
    idempotency,
    routes: ['/v1/a', '/v1/b'].map((path) =>
      route(
        {
          method: 'post',
          path,
          permission: 'data',
          idempotent: true,
          status: 201,
          body: z.object({ n: z.number() }),
          response: z.unknown(),
        },
        async (_input, context) => {
          runs.push(context.idempotency?.id);
          return behave();
        },
      ),
    ),
  });
}
const app = () => createTestApp();

const post = (
  idempotencyKey: string,
  body: object = { n: 1 },
  { path = '/v1/a', key = 'key1' } = {},
) =>
  request(app())
    .post(path)
    .set('Authorization', `Bearer ${key}`)
    .set('Idempotency-Key', idempotencyKey)
    .send(body);

test('the stored answer is sent again, with the request id of the new request', async () => {
  const first = await post('replay').expect(201);
  const second = await post('replay').set('X-Request-Id', 'second').expect(201);
  expect(second.body).toEqual(first.body);
  expect(second.headers['x-request-id']).toBe('second');
  expect(runs).toEqual([expect.stringMatching(/^idem_/)]);
});

test('another key, path or caller is another operation', async () => {
  await post('one');
  await post('two');
  await post('one', { n: 1 }, { path: '/v1/b' });
  await post('one', { n: 1 }, { key: 'key2' });
  expect(new Set(runs).size).toBe(4);
});

test('without the header every request runs', async () => {
  for (const n of [1, 2])
    await request(app()).post('/v1/a').set('Authorization', 'Bearer key1').send({ n }).expect(201);
  expect(runs).toEqual([undefined, undefined]);
});

test('the same key with another body is refused with 409', async () => {
  await post('other', { n: 1 }).expect(201);
  const response = await post('other', { n: 2 }).expect(409);
  expect(response.body).toMatchObject({
    error: 'Idempotency-Key was already used with another request body',
    code: 'idempotency_key_reused',
  });
});

test.each(['', ' ', 'a b', 'x'.repeat(256), 'é'])(
  '%j is not a valid key and is refused with 400',
  async (key) => {
    const encoded = Buffer.from(key).toString('latin1');
    const response = await post(encoded);
    expect(response.status).toBe(400);
    expect(response.body.code).toBe('invalid_idempotency_key');
  },
);

test('simultaneous requests to several processes run once and receive the same answer', async () => {
  behave = async () => {
    await sleep(150);
    return { run: runs.length };
  };
  const responses = await Promise.all(Array.from({ length: 12 }, () => post('together')));
  expect(responses.map(({ status, body }) => ({ status, body }))).toEqual(
    Array.from({ length: 12 }, () => ({ status: 201, body: { run: 1 } })),
  );
  expect(runs).toHaveLength(1);
});

test('a request that waited for the first answer does not receive it when its key was revoked meanwhile', async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  behave = async () => {
    await promise;
    return { run: 'secret' };
  };
  const store = createIdempotencyStore(db);
  const states: string[] = [];
  const watched = {
    ...store,
    async begin(operation: Parameters<typeof store.begin>[0]) {
      const found = await store.begin(operation);
      states.push(found.state);
      return found;
    },
  };
  const send = () =>
    request(createTestApp(db, watched))
      .post('/v1/a')
      .set({ Authorization: 'Bearer key3', 'Idempotency-Key': 'waits' })
      .send({ n: 1 })
      .then((answer) => answer);
  const first = send();
  await until(() => runs.length === 1);
  const second = send();
  await until(() => states.includes('running'));
  revoked.add('key3');
  resolve();
  expect((await first).status).toBe(201);
  expect(await second).toMatchObject({ status: 401, body: { error: 'Unauthorized' } });
});

test('an error of the 4xx range is stored with its message and details', async () => {
  behave = async () => {
    throw notFound('Entity type order not found', 'entity_type_not_found');
  };
  const first = await post('kept').expect(404);
  behave = async () => ({});
  const second = await post('kept').expect(404);
  expect(second.body).toEqual({ ...first.body, requestId: expect.any(String) });
  expect((await post('invalid', { n: 'x' }).expect(400)).body.details).toEqual(
    (await post('invalid', { n: 'x' }).expect(400)).body.details,
  );
  expect(runs).toHaveLength(1);
});

test.each([500, 503])(
  'a %i is not stored: a retry runs again with the same operation id',
  async (status) => {
    behave = async () => {
      throw new HttpError(status, 'broken', 'broken');
    };
    await post(`again${status}`).expect(status);
    behave = async () => ({ ok: true });
    await post(`again${status}`).expect(201, { ok: true });
    await post(`again${status}`).expect(201, { ok: true });
    expect(runs).toHaveLength(2);
    expect(new Set(runs).size).toBe(1);
  },
);

test('the claim of a killed process is taken over with its operation id', async () => {
  behave = async () => {
    await db.pool.query(
      "update idempotency_records set locked_until = now() - interval '1 s' where key = 'left'",
    );
    throw new HttpError(500, 'killed', 'killed');
  };
  await post('left').expect(500);
  behave = async () => ({ ok: true });
  await post('left').expect(201);
  expect(new Set(runs).size).toBe(1);
});

test('after 24 hours a key can be used for a new operation, and the sweep removes it', async () => {
  await post('old');
  await db.pool.query(
    "update idempotency_records set expires_at = now() - interval '1 s' where key = 'old'",
  );
  await post('old').expect(201);
  expect(new Set(runs).size).toBe(2);
  await db.pool.query(
    "update idempotency_records set expires_at = now() - interval '1 s' where key = 'old'",
  );
  expect(await createIdempotencyStore(db).sweep()).toBe(1);
});

test('a request that fails because the database is away releases its key after its return, long before the lock ends', async () => {
  const proxy = await startTcpProxy(db.url);
  const behind = createDb({ databaseUrl: proxy.url });
  behave = async () => {
    await proxy.cut();
    throw new Error('away');
  };
  await request(createTestApp(behind))
    .post('/v1/a')
    .set({ Authorization: 'Bearer key1', 'Idempotency-Key': 'away' })
    .send({ n: 1 })
    .expect(500);
  await proxy.open();
  const isLocked = `select locked_until > now() as it from idempotency_records where key = 'away'`;
  await until(async () => !(await db.pool.query(isLocked)).rows[0].it, { limitMs: 8_000 });
  await behind.close();
  await proxy.cut();
});

test('an organization has two thirds of the waits for a first request, and further ones are refused at once', async () => {
  const end = Promise.withResolvers<void>();
  behave = async () => {
    await end.promise;
    return { run: runs.length };
  };
  const app = createTestApp();
  const call = () =>
    request(app)
      .post('/v1/a')
      .set('Authorization', 'Bearer many')
      .set('Idempotency-Key', 'waits')
      .send({ n: 1 });
  const statuses: number[] = [];
  const calls = Array.from({ length: 200 }, () =>
    call().then(({ status }) => statuses.push(status)),
  );
  await until(async () => statuses.length, { isThere: (refused) => refused >= 200 - 171 - 1 });
  expect(new Set(statuses)).toEqual(new Set([409]));
  end.resolve();
  await Promise.all(calls);
  expect(runs).toHaveLength(1);
  expect(statuses.filter((status) => status === 201).length).toBeGreaterThan(100);
});
