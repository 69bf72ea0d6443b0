import { randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { SignJWT } from 'jose';
import { operations, operationsOf } from '@parley/contracts';
import { createFindWebsite, threadOfVisitor, visitorOfToken } from '@parley/identity';
import { closeRedis, connectRedis, waitForRedis } from '@parley/redis';
import { rateLimited } from '@parley/service';
import { until } from '@parley/testing';
import request from 'supertest';
import { createManageApp } from './app';
import { type TestApi, type World, createTestApi } from './testing/create-test-api';
import { insertAgent } from './testing/samples/executions';
import { anAgent } from './testing/samples/publishable-keys';
import { createVisitorLimit } from './visitors';

let api: TestApi;
let world: World;
let agentSlug: string;
beforeAll(async () => {
  api = await createTestApi();
  world = await api.world();
  agentSlug = await anAgent(world);
  await insertAgent(world);
});
afterAll(() => api.close());

const site = 'https://shop.example.com';

async function newKey(more: object = {}) {
  const body = { name: 'website', agentSlug, origins: [site, '*.example.org'], ...more };
  return (await world.call('post', '/v1/publishable-keys', { body }).expect(201)).body;
}

const begin = (
  key: string,
  { origin = site, ...body }: { origin?: string; [field: string]: unknown } = {},
) =>
  api.call('post', `/v1/widget/sessions?key=${key}`, {
    body,
    headers: origin === '' ? {} : { Origin: origin },
  });

const signed = (secret: string, claims: Record<string, unknown> = {}, alg = 'HS256') =>
  new SignJWT({ sub: 'ana', iat: Math.floor(Date.now() / 1_000), ...claims })
    .setProtectedHeader({ alg })
    .sign(Buffer.from(secret));

describe('publishable keys', () => {
  test('a key is listed whole, its secret is shown once, and the audit log has both changes', async () => {
    const { id, key, identitySecret, limits } = await newKey();
    expect(key).toMatch(/^pk_dev_/);
    expect(limits).toEqual({ perVisitor: 60, perAddress: 600, perKey: 6_000 });
    const list = await world.call('get', '/v1/publishable-keys').expect(200);
    expect(list.body.data[0]).toMatchObject({
      id,
      key,
      agentSlug,
      routerSlug: null,
      revokedAt: null,
    });
    await world.call('delete', `/v1/publishable-keys/${id}`).expect(200);
    const log = await world.call('get', '/v1/audit-log').expect(200);
    expect(log.body.data.slice(0, 2).map(({ action }: { action: string }) => action)).toEqual([
      'publishable_key.revoked',
      'publishable_key.created',
    ]);
    for (const { text } of [list, log]) expect(text).not.toContain(identitySecret);
    await (await api.world()).call('delete', `/v1/publishable-keys/${id}`).expect(404);
  });

  test.each([
    { origins: ['https://shop.example.com/path'] },
    { origins: ['*.com'] },
    { origins: ['*'] },
    { origins: ['null'] },
    { origins: ['https://SHOP.example.com'] },
    { origins: [] },
    { agentSlug: 'unknown' },
    { routerSlug: 'both' },
    { agentSlug: undefined },
    { limits: { perVisitor: 0 } },
  ])('%j is refused', async (wrong) => {
    const body = { name: 'website', agentSlug, origins: [site], ...wrong };
    await world.call('post', '/v1/publishable-keys', { body }).expect(400);
  });

  test('as a bearer token a key is refused with 403 on every path', async () => {
    const { key } = await newKey();
    const served = { ...operationsOf.manage, ...operationsOf.toolSecrets, ...operationsOf.widget };
    expect(Object.keys(operations)).toEqual(expect.arrayContaining(Object.keys(served)));
    for (const { method, path } of Object.values(served)) {
      const answer = await api.call(method, path.replace(/:\w+/g, 'x'), { key });
      expect([path, answer.status, answer.body.code]).toEqual([path, 403, 'publishable_key']);
    }
  });
});

describe('origins', () => {
  test('only listed origins begin a session, and only they may read the answer', async () => {
    const { key } = await newKey();
    for (const origin of [site, 'https://a.example.org', 'https://b.a.example.org']) {
      const { headers } = await begin(key, { origin }).expect(201);
      expect(headers).toMatchObject({ 'access-control-allow-origin': origin, vary: 'Origin' });
    }
    const foreign = [
      '',
      'null',
      'https://evil.example',
      'http://shop.example.com',
      'https://shop.example.com:8443',
      'https://example.org',
      'https://evilexample.org',
      'http://a.example.org',
      'https://a.example.org.evil.example',
      'https://shop.example.com.evil.example',
      'https://shop.example.com/',
    ];
    for (const origin of foreign) {
      const { headers, body } = await begin(key, { origin }).expect(403);
      expect([origin, body.code]).toEqual([origin, 'origin_not_allowed']);
      expect(headers).not.toHaveProperty('access-control-allow-origin');
    }
  });

  test('a preflight is answered only to listed origins of the key', async () => {
    const { key } = await newKey();
    const ask = async (origin: string, of = key, path = 'sessions') => {
      const { status, headers } = await api.call('options', `/v1/widget/${path}?key=${of}`, {
        headers: { Origin: origin },
      });
      return [status, headers['access-control-allow-origin']];
    };
    for (const path of ['sessions', 'messages', 'stream'])
      expect(await ask(site, key, path)).toEqual([204, site]);
    expect(await ask('https://evil.example')).toEqual([403, undefined]);
    expect(await ask('null')).toEqual([403, undefined]);
    expect(await ask(site, 'pk_dev_AAAAAAAAAAAAAAAAAAAAAA')).toEqual([403, undefined]);
  });

  test('unknown, revoked and secret keys open nothing', async () => {
    const { id, key } = await newKey();
    await begin(key).expect(201);
    await world.call('delete', `/v1/publishable-keys/${id}`).expect(200);
    await until(async () => (await begin(key)).status === 401, { limitMs: 10_000 });
    for (const wrong of [key, 'pk_dev_AAAAAAAAAAAAAAAAAAAAAA', world.key, 'x'])
      await begin(wrong).expect(401);
  });
});

describe('visitors', () => {
  const websiteOf = async (key: string) => (await createFindWebsite(api.db, api.deps.box)(key))!;

  test('a token is bound to its key and names its visitor, who keeps the thread', async () => {
    const [{ key }, other] = await Promise.all([newKey(), newKey()]);
    const first = (await begin(key).expect(201)).body;
    expect(first.expiresAt).toBeGreaterThan(Date.now() + 29 * 60_000);
    expect(first.expiresAt).toBeLessThanOrEqual(Date.now() + 30 * 60_000);
    const again = (await begin(key, { visitorId: first.visitorId }).expect(201)).body;
    const [website, otherWebsite] = await Promise.all([websiteOf(key), websiteOf(other.key)]);
    const [a, b] = await Promise.all([
      visitorOfToken(website, first.token),
      visitorOfToken(website, again.token),
    ]);
    expect(a).toMatchObject({ origin: site, visitor: { params: {} } });
    expect(threadOfVisitor(website, a!.visitor)).toBe(threadOfVisitor(website, b!.visitor));
    expect(threadOfVisitor(website, a!.visitor)).not.toContain(first.visitorId);
    expect(await visitorOfToken(otherWebsite, first.token)).toBeNull();
    expect(await visitorOfToken(website, `${first.token.slice(0, -2)}AA`)).toBeNull();
  });

  test('an anonymous visitor never has the thread of an identified or of another one', async () => {
    const { key, identitySecret } = await newKey();
    const website = await websiteOf(key);
    const identity = await signed(identitySecret);
    const threadOf = async (body: Record<string, unknown>) => {
      const { token, visitorId } = (await begin(key, body).expect(201)).body;
      return [threadOfVisitor(website, (await visitorOfToken(website, token))!.visitor), visitorId];
    };
    const [ana, noId] = await threadOf({ identity });
    expect(noId).toBeNull();
    const attempts = ['ana', 'identified:ana', ana, undefined].map((visitorId) =>
      threadOf({ visitorId }),
    );
    const threads = (await Promise.all(attempts)).map(([thread]) => thread);
    expect(new Set([ana, ...threads]).size).toBe(5);
    expect((await threadOf({ identity, visitorId: 'x' }))[0]).toBe(ana);
  });

  test('claims of an identity become params', async () => {
    const { key, identitySecret } = await newKey();
    const identity = await signed(identitySecret, {
      plan: 'gold',
      exp: Math.floor(Date.now() / 1_000) + 60,
    });
    const { token } = (await begin(key, { identity }).expect(201)).body;
    const { visitor } = (await visitorOfToken(await websiteOf(key), token))!;
    expect(visitor).toEqual({ subject: 'identified:ana', params: { sub: 'ana', plan: 'gold' } });
  });

  test('forged, expired, old, future and foreign identities are refused', async () => {
    const [{ key, identitySecret }, other] = await Promise.all([newKey(), newKey()]);
    const now = Math.floor(Date.now() / 1_000);
    const none = `${Buffer.from('{"alg":"none"}').toString('base64url')}.${Buffer.from(`{"sub":"ana","iat":${now}}`).toString('base64url')}.`;
    const { token } = (await begin(key).expect(201)).body;
    const wrong = [
      signed('guess'),
      signed(other.identitySecret),
      signed(identitySecret, { exp: now - 60 }),
      signed(identitySecret, { iat: now - 302 }),
      signed(identitySecret, { iat: now + 60 }),
      signed(identitySecret, { iat: undefined }),
      signed(identitySecret, { sub: undefined }),
      signed(identitySecret, { sub: '' }),
      signed(identitySecret, { note: 'x'.repeat(5_000) }),
      signed(identitySecret, { note: '\0' }),
      signed(identitySecret, {}, 'HS512'),
      none,
      token,
      'x',
    ];
    for (const [index, identity] of (await Promise.all(wrong)).entries()) {
      const { status, body } = await begin(key, { identity });
      expect([index, status, body.code]).toEqual([index, 401, 'invalid_identity']);
    }
    await begin(key, { identity: await signed(identitySecret, { iat: now - 280 }) }).expect(201);
  });
});

describe('requests with a token', () => {
  test('need its key and origin; without Origin only a read of the own page passes', async () => {
    const own = new URL(api.deps.publicUrl).origin;
    const [{ key }, other] = await Promise.all([
      newKey({ agentSlug: 'helper', origins: [site, 'https://b.example.com', own] }),
      newKey(),
    ]);
    const [token, ownToken, foreign] = await Promise.all(
      [begin(key), begin(key, { origin: own }), begin(other.key)].map(
        async (session) => (await session).body.token,
      ),
    );
    const ask = async (method: 'get' | 'post', bearer: string, headers: Record<string, string>) => {
      const body = method === 'post' ? { message: 'Hello' } : undefined;
      const { status } = await api.call(method, `/v1/widget/messages?key=${key}`, {
        key: bearer,
        headers,
        body,
      });
      return status < 300 ? 200 : status;
    };
    const sameOrigin = { 'Sec-Fetch-Site': 'same-origin' };
    for (const method of ['get', 'post'] as const) {
      expect(await ask(method, token, { Origin: site })).toBe(200);
      expect(await ask(method, token, { Origin: 'https://b.example.com' })).toBe(401);
      expect(await ask(method, token, { Origin: 'https://evil.example', ...sameOrigin })).toBe(403);
      expect(await ask(method, token, { Origin: 'null', ...sameOrigin })).toBe(403);
      expect(await ask(method, ownToken, {})).toBe(403);
      expect(await ask(method, ownToken, { 'Sec-Fetch-Site': 'cross-site' })).toBe(403);
      expect(await ask(method, foreign, { Origin: site })).toBe(401);
      expect(await ask(method, key, { Origin: site })).toBe(403);
    }
    expect(await ask('get', ownToken, sameOrigin)).toBe(200);
    expect(await ask('get', token, sameOrigin)).toBe(401);
    expect(await ask('post', ownToken, sameOrigin)).toBe(403);
  });
});

describe('messages', () => {
  const visit = async (key: string, body: object = {}) => {
    const { token } = (await begin(key, { ...body }).expect(201)).body;
    const ask = (method: 'get' | 'post', path: string, more: object = {}) =>
      api.call(method, `/v1/widget/${path}key=${key}`, {
        key: token,
        headers: { Origin: site },
        ...more,
      });
    return {
      token,
      send: (message: unknown, headers: object = {}) =>
        ask('post', 'messages?', { body: { message }, headers: { Origin: site, ...headers } }),
      list: async (query = '') => (await ask('get', `messages?${query}`).expect(200)).body,
      stream: () => ask('get', 'stream?'),
    };
  };
  /** Ends the execution as a worker does. */
  async function answer(id: string) {
    await api.db.pool.query(
      `update executions set status = 'succeeded', output = 'Hi', finished_at = now() where tenant = $1 and id = $2`,
      [world.scope.tenant, id],
    );
    api.deps.executionChunks.ring(id);
  }
  const limits = { perVisitor: 100, perAddress: 1_000, perKey: 1_000 };

  test('are stored in the thread of the visitor, whom no other visitor can read', async () => {
    const { key, identitySecret } = await newKey({ agentSlug: 'helper', limits });
    const ana = await visit(key, { identity: await signed(identitySecret, { plan: 'gold' }) });
    const other = await visit(key);
    expect(await ana.list()).toEqual({ data: [], cursor: '', hasMore: false });
    const { executionId, status } = (await ana.send('Do you ship?').expect(202)).body;
    expect(status).toBe('queued');
    await ana.send('To Chile?').expect(202);
    await other.send('Mine').expect(202);
    const { data } = await ana.list();
    expect(data).toEqual(
      ['To Chile?', 'Do you ship?'].map((text) => ({
        id: expect.any(String),
        executionId: expect.any(String),
        from: 'visitor',
        text,
        createdAt: expect.any(Number),
      })),
    );
    const first = await ana.list('limit=1&');
    expect(first).toMatchObject({ data: [data[0]], hasMore: true });
    expect((await ana.list(`limit=1&cursor=${first.cursor}&`)).data).toEqual([data[1]]);
    expect((await other.list()).data.map(({ text }: { text: string }) => text)).toEqual(['Mine']);
    expect((await (await visit((await newKey({ agentSlug: 'helper' })).key)).list()).data).toEqual(
      [],
    );
    const { rows } = await api.db.pool.query(
      `select t.channel, t.params from executions e join threads t on t.tenant = e.tenant and t.id = e.thread_id
       where e.tenant = $1 and e.id = $2`,
      [world.scope.tenant, executionId],
    );
    expect(rows).toEqual([{ channel: 'widget', params: { sub: 'ana', plan: 'gold' } }]);
    // Not an execution of any key with chat.
    const chatKey = await api.keyOf(world.scope, ['chat']);
    await world.call('get', `/v1/executions/${executionId}`, { key: chatKey }).expect(404);
  });

  test('with the same Idempotency-Key is one, and wrong ones are refused to the page', async () => {
    const { key } = await newKey({ agentSlug: 'helper', limits });
    const [visitor, other] = [await visit(key), await visit(key)];
    const once = { 'Idempotency-Key': 'k1' };
    const sent = await Promise.all([
      visitor.send('Once', once),
      visitor.send('Once', once),
      other.send('Once', once),
    ]);
    expect(sent[0].body).toEqual(sent[1].body);
    expect(sent[2].body.executionId).not.toBe(sent[0].body.executionId);
    expect((await visitor.list()).data).toHaveLength(1);
    expect((await visitor.send('x'.repeat(8_000))).status).toBe(202);
    for (const message of ['', '  ', 5, null, undefined, '\0', 'x'.repeat(8_001)]) {
      const { status, headers } = await visitor.send(message);
      expect([message, status, headers['access-control-allow-origin']]).toEqual([
        message,
        400,
        site,
      ]);
    }
    const missing = await visit((await newKey()).key);
    await missing.send('Hello').expect(404);
  });

  test("have people's replies, who end the agent's answers, and no notes", async () => {
    const visitor = await visit((await newKey({ agentSlug: 'helper', limits })).key);
    const { executionId } = (await visitor.send('Hello').expect(202)).body;
    const { threadId } = (await world.call('get', `/v1/executions/${executionId}`).expect(200))
      .body;
    await world
      .call('post', `/v1/threads/${threadId}/notes`, { body: { text: 'A secret note' } })
      .expect(201);
    await world
      .call('post', `/v1/threads/${threadId}/messages`, { body: { text: 'I am here' } })
      .expect(201);
    const { data } = await visitor.list();
    expect(data.map(({ from, text }: { from: string; text: string }) => [from, text])).toEqual([
      ['person', 'I am here'],
      ['visitor', 'Hello'],
    ]);
    expect((await visitor.send('Thanks').expect(202)).body.status).toBe('stored');
  });

  test('the stream follows the answer that the thread waits for, and is 204 without one', async () => {
    const visitor = await visit((await newKey({ agentSlug: 'helper', limits })).key);
    await visitor.stream().expect(204);
    const { executionId } = (await visitor.send('Hello').expect(202)).body;
    const streaming = visitor.stream();
    setTimeout(() => void answer(executionId), 50);
    const { text, headers } = await streaming.buffer(true).expect(200);
    expect(headers).toMatchObject({
      'access-control-allow-origin': site,
      'x-vercel-ai-ui-message-stream': 'v1',
    });
    expect(text).toContain('"delta":"Hi"');
    expect(text).toContain('data: [DONE]');
    await visitor.stream().expect(204);

    // A position in that answer is before the beginning of the next one.
    const [, last] = [...text.matchAll(/^id: (.+)$/gm)].at(-1)!;
    expect(last).toMatch(new RegExp(`^${executionId}-\\d+$`));
    const next = (await visitor.send('Again').expect(202)).body.executionId;
    const again = visitor.stream().set('Last-Event-ID', last!);
    setTimeout(() => void answer(next), 50);
    const { text: second } = await again.buffer(true).expect(200);
    expect(second).toContain('"delta":"Hi"');
    const ids = [...second.matchAll(/^id: (.+)$/gm)].map(([, id]) => id!);
    expect(ids.every((id) => id.startsWith(`${next}-`))).toBe(true);
  });
});

describe('limits', () => {
  test('a visitor, an address and a key have exactly their limit over two replicas', async () => {
    const connections = await Promise.all(
      [1, 2].map(async () => {
        const redis = connectRedis({ url: api.redisUrl, role: 'limiter' });
        await waitForRedis(redis, 5_000);
        return redis;
      }),
    );
    const replicas = connections.map(createVisitorLimit);
    const admitted = async (countersOf: (index: number) => { name: string; limit: number }[]) => {
      const group = `g${Math.random()}`;
      const asked = Array.from({ length: 120 }, (_, index) =>
        replicas[index % 2]!(group, countersOf(index)),
      );
      return (await Promise.all(asked)).filter((retryAtMs) => retryAtMs === 0).length;
    };
    expect(
      await admitted(() => [
        { name: 'a', limit: 7 },
        { name: 'key', limit: 50 },
      ]),
    ).toBe(7);
    expect(
      await admitted((index) => [
        { name: `v${index % 10}`, limit: 3 },
        { name: 'key', limit: 1_000 },
      ]),
    ).toBe(30);
    expect(
      await admitted((index) => [
        { name: `v${index}`, limit: 3 },
        { name: 'key', limit: 50 },
      ]),
    ).toBe(50);
    await Promise.all(connections.map(closeRedis));
  });

  test('over the limit of a visitor the answer says when to try again, also to the page', async () => {
    const { key } = await newKey({ limits: { perVisitor: 2 } });
    const { visitorId } = (await begin(key).expect(201)).body;
    await begin(key, { visitorId }).expect(201);
    const { body, headers } = await begin(key, { visitorId }).expect(429);
    expect(body.code).toBe('too_many_requests');
    expect(Number(headers['retry-after'])).toBeGreaterThan(50);
    expect(headers['access-control-allow-origin']).toBe(site);
    await begin(key).expect(201);
  });

  test('an address that sends unknown keys is refused before they are looked up', async () => {
    const keyLimit = {
      addressOf: ({ headers }: IncomingMessage) => String(headers['x-address']),
      unknownKeysPerMinute: 3,
      refusal: (retryAtMs: number) => rateLimited(retryAtMs, 'too_many_unknown_keys'),
    };
    const app = createManageApp({ ...api.deps, keyLimit });
    const { key } = await newKey();
    const ask = (name: string, address: string) =>
      request(app)
        .post(`/v1/widget/sessions?key=${name}`)
        .set({ Origin: site, 'X-Address': address })
        .send({});
    const unknown = () => `pk_dev_${randomBytes(16).toString('base64url')}`;
    for (let at = 0; at < 3; at += 1) await ask(unknown(), 'a').expect(401);
    expect((await ask(unknown(), 'a').expect(429)).body.code).toBe('too_many_unknown_keys');
    await request(app)
      .options(`/v1/widget/sessions?key=${unknown()}`)
      .set({ Origin: site, 'X-Address': 'a' })
      .expect(429);
    await ask(key, 'b').expect(201);
    // A key that is known to be valid does not depend on what else its address sends.
    await ask(key, 'a').expect(201);
  });
});
