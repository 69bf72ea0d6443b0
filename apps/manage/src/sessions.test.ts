import { closeRedis, connectRedis, createRateLimiter, waitForRedis } from '@parley/redis';
import { createApiKey, endSessions } from '@parley/identity';
import { until } from '@parley/testing';
import request from 'supertest';
import { createManageApp } from './app';
import { createSignInLimit } from './sign-in-limit';
import { type Person, type TestApi, type World, createTestApi } from './testing/create-test-api';

let api: TestApi;
let world: World;
beforeAll(async () => {
  api = await createTestApi();
});
beforeEach(async () => {
  world = await api.world();
});
afterAll(() => api.close());

const https = { 'Sec-Fetch-Site': 'same-origin', 'X-Forwarded-Proto': 'https' };
const signIn = (body: object, headers: Record<string, string> = https) =>
  api.call('post', '/v1/sessions', { body, headers });
const me = (headers: Record<string, string>) => api.call('get', '/v1/me', { headers });
const actions = async () =>
  (await world.call('get', '/v1/audit-log')).body.data.map(
    ({ action }: { action: string }) => action,
  );
const cookieOf = (response: request.Response): string => response.headers['set-cookie']![0]!;
const tokenIn = (cookie: string): string => /=([^;]+)/.exec(cookie)![1]!;

describe('signing in', () => {
  test('sets a cookie that only this host gets, over HTTPS, and that no script reads', async () => {
    const { email, password, id } = await api.person(world, 'admin');
    const response = await signIn({ email: email.toUpperCase(), password }).expect(201);
    expect(cookieOf(response)).toMatch(
      /^__Host-parley_session=[\w-]{43}; Path=\/; Max-Age=\d+; HttpOnly; SameSite=Lax; Secure$/,
    );
    expect(response.body.person).toEqual({
      id,
      email,
      isEmailProved: true,
      name: 'Ana Rojas',
      hasPassword: true,
    });
    expect(JSON.stringify(response.body)).not.toContain(tokenIn(cookieOf(response)));
    const { rows } = await api.db.pool.query('select * from sessions where id = $1', [
      response.body.id,
    ]);
    expect(JSON.stringify(rows)).not.toContain(tokenIn(cookieOf(response)));
    const mine = await me({ Cookie: cookieOf(response).split(';')[0]! }).expect(200);
    expect(mine.body).toMatchObject({
      person: { id },
      organizations: [
        {
          id: world.scope.organizationId,
          role: 'admin',
          environments: ['development', 'production'],
        },
      ],
    });
    expect(await actions()).toEqual(['session.started']);
  });

  test('on plain HTTP works for this machine only', async () => {
    const { email, password } = await api.person(world, 'member');
    const from = (host: string, more = {}) => ({
      Host: host,
      'Sec-Fetch-Site': 'same-origin',
      ...more,
    });
    for (const host of ['localhost:4000', '127.0.0.1:4000', 'shop.localhost']) {
      const cookie = cookieOf(await signIn({ email, password }, from(host)).expect(201));
      expect(cookie).toMatch(
        /^parley_session=[\w-]{43}; Path=\/; Max-Age=\d+; HttpOnly; SameSite=Lax$/,
      );
      await me({ Host: host, Cookie: cookie.split(';')[0]! }).expect(200);
      await me({ Host: 'shop.example', Cookie: cookie.split(';')[0]! }).expect(401);
    }
    for (const host of ['shop.example', 'localhost.shop.example', '192.168.1.4']) {
      const { body } = await signIn({ email, password }, from(host)).expect(403);
      expect(body.code).toBe('https_required');
    }
    await signIn({ email, password }, from('parley.example')).expect(201);
  });

  test('answers a wrong password and an unknown person with the same text, in the same time', async () => {
    const { email } = await api.person(world, 'member');
    const timesMs: Record<string, number[]> = { known: [], unknown: [] };
    const bodies = new Set<string>();
    for (let i = 0; i < 6; i++)
      for (const [kind, address] of [
        ['known', email],
        ['unknown', `${i}-${email}`],
      ] as const) {
        const startMs = performance.now();
        const { body } = await signIn({ email: address, password: 'wrong' }).expect(401);
        timesMs[kind]!.push(performance.now() - startMs);
        bodies.add(JSON.stringify({ ...body, requestId: null }));
      }
    expect(bodies.size).toBe(1);
    const [known, unknown] = [Math.min(...timesMs.known!), Math.min(...timesMs.unknown!)];
    expect(unknown).toBeGreaterThan(60);
    // wall clock: the equal time is the subject. The shortest of six tries is compared.
    expect(Math.abs(known - unknown) / known).toBeLessThan(0.5);
    await until(async () => (await actions()).length === 6);
    expect(new Set(await actions())).toEqual(new Set(['session.refused']));
  });

  test('is refused for a page of another site', async () => {
    const { email, password } = await api.person(world, 'member');
    const proto = { 'X-Forwarded-Proto': 'https' };
    for (const headers of [
      {},
      { 'Sec-Fetch-Site': 'cross-site' },
      { 'Sec-Fetch-Site': 'same-site', Origin: 'https://parley.example' },
      { Origin: 'https://evil.example', Host: 'parley.example' },
      { Origin: 'null', Host: 'parley.example' },
    ] as Record<string, string>[])
      expect(
        (await signIn({ email, password }, { ...proto, ...headers }).expect(403)).body.code,
      ).toBe('cross_site');
    await signIn(
      { email, password },
      { ...proto, Origin: 'https://parley.example', Host: 'parley.example' },
    ).expect(201);
  });

  test('needs a membership', async () => {
    const { email, password, id } = await api.person(world, 'member');
    await api.db.pool.query('update memberships set verified = false where user_id = $1', [id]);
    expect((await signIn({ email, password }).expect(403)).body.code).toBe('no_organization');
  });
});

describe('guessing passwords', () => {
  const limited = async (perPerson: number, perAddress: number, redisUrl = api.redisUrl) => {
    const redis = connectRedis({ url: redisUrl, role: 'limiter', onError: () => {} });
    if (redisUrl === api.redisUrl) await waitForRedis(redis, 5_000);
    const admitSignIn = createSignInLimit(redis, { perPerson, perAddress });
    const addressOf = ({ headers }: { headers: NodeJS.Dict<string | string[]> }) =>
      String(headers['x-test-address']);
    const keyLimit = { addressOf, unknownKeysPerMinute: Infinity, refusal: () => new Error() };
    const app = createManageApp({ ...api.deps, admitSignIn, keyLimit });
    return {
      attempt: (email: string, password: string, address: string) =>
        request(app)
          .post('/v1/sessions')
          .set({ ...https, 'X-Test-Address': address })
          .send({ email, password }),
      close: () => closeRedis(redis),
    };
  };

  test('is slowed down for a person and for an address, also for people who do not exist', async () => {
    const { email, password } = await api.person(world, 'member');
    const { attempt, close } = await limited(5, 8);
    for (const [address, name] of [
      ['203.0.113.1', email],
      ['203.0.113.2', `unknown-${email}`],
    ] as const) {
      for (let i = 0; i < 5; i++) await attempt(name, 'wrong', address).expect(401);
      const { body, headers } = await attempt(name, password, address).expect(429);
      expect(body).toMatchObject({ code: 'too_many_attempts', retryAt: expect.any(Number) });
      expect(Number(headers['retry-after'])).toBeGreaterThan(200);
    }
    // The person is not locked out at another address; this address is, after other people.
    await attempt(email, password, '203.0.113.3').expect(201);
    for (let i = 0; i < 3; i++) await attempt(`${i}-${email}`, 'wrong', '203.0.113.1').expect(401);
    await attempt(`9-${email}`, 'wrong', '203.0.113.1').expect(429);
    await close();
  });

  test('from many addresses is slowed down too', async () => {
    const { email, password } = await api.person(world, 'member');
    const { attempt, close } = await limited(1, 8);
    for (let i = 0; i < 4; i++) await attempt(email, 'wrong', `198.51.100.${i}`).expect(401);
    await attempt(email, password, '198.51.100.9').expect(429);
    await close();
  });

  test('is impossible while Redis does not answer', async () => {
    const { email, password } = await api.person(world, 'member');
    const { attempt, close } = await limited(5, 8, 'redis://127.0.0.1:1');
    const { body, headers } = await attempt(email, password, '203.0.113.1').expect(503);
    expect([body.code, headers['retry-after']]).toEqual(['sign_in_unavailable', '2']);
    await close();
  });
});

describe('a session', () => {
  let person: Person;
  beforeEach(async () => {
    person = await api.person(world, 'member');
  });
  const token = () => person.headers.Cookie!.split('=')[1]!;
  const threads = (headers: Record<string, string>, query = '') =>
    api.call('get', `/v1/threads${query}`, { headers });

  test('is accepted in the cookie only', async () => {
    await threads(person.headers).expect(200);
    const { Cookie: _, ...rest } = person.headers;
    for (const query of [
      'session',
      'token',
      'access_token',
      'parley_session',
      '__Host-parley_session',
    ])
      await threads(rest, `?${query}=${token()}`).expect(401);
    await threads({ ...rest, Authorization: `Bearer ${token()}` }).expect(401);
    await threads({ ...rest, 'X-Session': token() }).expect(401);
    await threads({ ...rest, Cookie: `__Host-parley_session=${token().slice(1)}` }).expect(401);
  });

  test('names its organization and environment in headers', async () => {
    const {
      'Parley-Organization': organization,
      'Parley-Environment': environment,
      ...rest
    } = person.headers;
    expect(
      (await threads({ ...rest, 'Parley-Environment': environment! }).expect(400)).body.code,
    ).toBe('missing_organization');
    for (const wrong of [undefined, 'staging', '']) {
      const headers = {
        ...rest,
        'Parley-Organization': organization!,
        ...(wrong && { 'Parley-Environment': wrong }),
      };
      expect((await threads(headers).expect(400)).body.code).toBe('missing_environment');
    }
    const other = await api.world();
    for (const id of [other.scope.organizationId, 'org_unknown', 'x'.repeat(3_000)])
      expect(
        (await threads({ ...person.headers, 'Parley-Organization': id }).expect(403)).body.code,
      ).toBe('not_a_member');
  });

  test('never changes what a key may do', async () => {
    const { key } = await createApiKey(api.db, {
      ...world.scope,
      name: 'k',
      permissions: ['chat'],
    });
    await threads({ ...person.headers, Authorization: `Bearer ${key}` }).expect(403);
    const other = await api.world();
    const { body } = await api
      .call('get', '/v1/organization', {
        key: other.key,
        headers: {
          'Parley-Organization': world.scope.organizationId,
          'Parley-Environment': 'production',
        },
      })
      .expect(200);
    expect(body.id).toBe(other.scope.organizationId);
  });

  test('of another site changes nothing', async () => {
    const { 'Sec-Fetch-Site': _, ...rest } = person.headers;
    for (const more of [
      {},
      { 'Sec-Fetch-Site': 'cross-site' },
      { Origin: 'https://evil.example' },
    ] as Record<string, string>[]) {
      const { body } = await api
        .call('delete', '/v1/sessions/current', { headers: { ...rest, ...more } })
        .expect(403);
      expect(body.code).toBe('cross_site');
    }
    await me(rest).expect(200);
  });

  test('gets a new token at each sign-in, and the one that the browser had ends', async () => {
    const { email, password } = person;
    const planted = await api.person(world, 'member');
    const response = await signIn(
      { email, password },
      { ...https, Cookie: planted.headers.Cookie! },
    ).expect(201);
    expect(cookieOf(response)).not.toContain(planted.headers.Cookie!.split('=')[1]!);
    await me({ Cookie: planted.headers.Cookie! }).expect(401);
    // A made-up token is never taken over.
    const madeUp = 'a'.repeat(43);
    const second = await signIn(
      { email, password },
      { ...https, Cookie: `__Host-parley_session=${madeUp}` },
    );
    expect(tokenIn(cookieOf(second))).not.toBe(madeUp);
    await me({ Cookie: `__Host-parley_session=${madeUp}` }).expect(401);
  });

  test('ends: signed out, revoked, expired, idle, and of a deleted organization', async () => {
    const ended = async (sql: string) => {
      const { headers, sessionId } = await api.person(world, 'member');
      await me(headers).expect(200);
      await api.db.pool.query(sql, [sessionId]);
      await me(headers).expect(401);
      await threads(headers).expect(401);
    };
    await ended('update sessions set revoked_at = now() where id = $1');
    await ended('update sessions set expires_at = now() where id = $1');
    await ended(`update sessions set last_seen_at = now() - interval '7 days' where id = $1`);
    const out = await api
      .call('delete', '/v1/sessions/current', { headers: person.headers })
      .expect(200);
    expect(cookieOf(out)).toMatch(/parley_session=; Path=\/; Max-Age=0/);
    await me(person.headers).expect(401);
    const { headers } = await api.person(world, 'admin');
    await api.db.pool.query('update organizations set deleted_at = now() where id = $1', [
      world.scope.organizationId,
    ]);
    await threads(headers).expect(403);
  });

  test('that is kept does not end by not being used, but after 30 days', async () => {
    const { email, password } = person;
    const begin = async (body: object) => {
      const response = await signIn({ email, password, ...body }).expect(201);
      return { id: response.body.id as string, Cookie: cookieOf(response).split(';')[0]! };
    };
    const [kept, other] = [
      await begin({ keepSignedIn: true }),
      await begin({ keepSignedIn: false }),
    ];
    await api.db.pool.query(
      `update sessions set last_seen_at = now() - interval '29 days' where id = any($1)`,
      [[kept.id, other.id]],
    );
    await me({ Cookie: other.Cookie }).expect(401);
    await me({ Cookie: kept.Cookie }).expect(200);
    const { body } = await api
      .call('get', '/v1/sessions', { headers: { Cookie: kept.Cookie } })
      .expect(200);
    const ids = body.data.map(({ id }: { id: string }) => id);
    expect([ids.includes(kept.id), ids.includes(other.id)]).toEqual([true, false]);
    const { rows } = await api.db.pool.query(
      'select expires_at - created_at as lasts from sessions where id = $1',
      [kept.id],
    );
    expect(rows[0].lasts.days).toBe(30);
    await api.db.pool.query('update sessions set expires_at = now() where id = $1', [kept.id]);
    await me({ Cookie: kept.Cookie }).expect(401);
    await signIn({ email, password, keepSignedIn: 'yes' }).expect(400);
  });

  test('is listed, with the time of its last use, and ended by its person only', async () => {
    const other = await api.person(world, 'admin');
    await api.db.pool.query(
      `update sessions set last_seen_at = now() - interval '1 hour' where id = $1`,
      [person.sessionId],
    );
    await me(person.headers).expect(200);
    const second = await signIn({ email: person.email, password: person.password }).expect(201);
    const list = async () =>
      (await api.call('get', '/v1/sessions', { headers: person.headers })).body.data;
    await until(async () => (await list())[1].lastSeenAt > Date.now() - 60_000);
    expect((await list()).map(({ isCurrent }: { isCurrent: boolean }) => isCurrent)).toEqual([
      false,
      true,
    ]);
    const end = (id: string, headers: Record<string, string>, status: number) =>
      api.call('delete', `/v1/sessions/${id}`, { headers }).expect(status);
    await end(second.body.id, other.headers, 404);
    await end(second.body.id, person.headers, 200);
    await end(second.body.id, person.headers, 404);
    expect(await list()).toHaveLength(1);
    await me({ Cookie: cookieOf(second).split(';')[0]! }).expect(401);
  });

  test('does not survive a change of the password, except the one that changed it', async () => {
    const change = (body: object, status: number, headers = person.headers) =>
      api.call('post', '/v1/me/password', { body, headers }).expect(status);
    const elsewhere = cookieOf(
      await signIn({ email: person.email, password: person.password }),
    ).split(';')[0]!;
    const next = 'battery staple 12';
    await change({ currentPassword: 'wrong', newPassword: next }, 403);
    await change({ currentPassword: person.password, newPassword: 'short' }, 400);
    const both = await Promise.all(
      [1, 2].map((i) =>
        api.call('post', '/v1/me/password', {
          body: { currentPassword: person.password, newPassword: `${next} ${i}` },
          headers: person.headers,
        }),
      ),
    );
    expect(both.map(({ status }) => status).sort()).toEqual([200, 409]);
    await me({ Cookie: elsewhere }).expect(401);
    await me(person.headers).expect(200);
    await signIn({ email: person.email, password: person.password }).expect(401);
    const winner = both.findIndex(({ status }) => status === 200) + 1;
    await signIn({ email: person.email, password: `${next} ${winner}` }).expect(201);
    expect(
      (await actions()).filter((action: string) => action === 'password.changed'),
    ).toHaveLength(1);
    await api.db.pool.query('delete from passwords where user_id = $1', [person.id]);
    expect((await change({ currentPassword: 'x', newPassword: next }, 409)).body.code).toBe(
      'no_password',
    );
  });

  test('counts the requests of the person that name no organization', async () => {
    const redis = connectRedis({ url: api.redisUrl, role: 'limiter' });
    await waitForRedis(redis, 5_000);
    const limits = { perKey: 3, perOrganization: 100 };
    const limiter = createRateLimiter({ redis, name: 'sessions', limits });
    const app = createManageApp({ ...api.deps, limiter });
    const read = (path: string, { headers }: Person) => request(app).get(path).set(headers);
    for (const path of ['/v1/me', '/v1/sessions', '/v1/me']) await read(path, person).expect(200);
    const refused = await read('/v1/me', person).expect(429);
    expect(refused.body).toMatchObject({ code: 'rate_limited', retryAt: expect.any(Number) });
    await read('/v1/me', await api.person(world, 'member')).expect(200);
    limiter.close();
    await closeRedis(redis);
  });

  test('ends on every replica soon', async () => {
    const replica = createManageApp(api.deps);
    const read = () => request(replica).get('/v1/threads').set(person.headers);
    await read().expect(200);
    const startMs = performance.now();
    await endSessions(api.db, person.id);
    await until(async () => (await read()).status === 401);
    expect(performance.now() - startMs).toBeLessThan(10_000);
  });
});
