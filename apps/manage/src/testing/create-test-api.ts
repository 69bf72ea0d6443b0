import type { Environment, Permission, PersonRole, Scope } from '@parley/contracts';
import { type Db, createDb, createSecretBox, newId } from '@parley/db';
import { createEntities } from '@parley/entities';
import {
  addMember,
  createApiKey,
  createSession,
  createUser,
  hashPassword,
  proveEmail,
  putPassword,
} from '@parley/identity';
import { createChannels } from '@parley/channels';
import { createGuardedFetch } from '@parley/outbound';
import { createPayments } from '@parley/payments';
import {
  type Queues,
  closeRedis,
  connectRedis,
  createExecutionBells,
  createExecutionChunks,
  createQueues,
} from '@parley/redis';
import { OpenStreams, silentLogger } from '@parley/service';
import {
  type KapsoServer,
  type OidcServer,
  createTestDatabase,
  createTestRedis,
  startKapsoServer,
  startOidcServer,
} from '@parley/testing';
import request from 'supertest';
import { type ManageDeps, createManageApp } from '../app';
import { type OidcSettings, createOidc } from '../oidc';
import { createSealedCookies } from '../sealed-cookies';
import { createSignInLimit } from '../sign-in-limit';
import { createVisitorLimit } from '../visitors';

export type Method = 'get' | 'post' | 'patch' | 'put' | 'delete' | 'options';

export interface CallOptions {
  key?: string;
  body?: unknown;
  headers?: Record<string, string>;
}

/** A signed-in person. */
export interface Person {
  id: string;
  email: string;
  password: string;
  sessionId: string;
  /** The cookie and what browsers send with it. */
  headers: Record<string, string>;
}

/** An organization in one environment, with a key that has the permission `manage`. */
export interface World {
  api: TestApi;
  db: Db;
  scope: Scope;
  key: string;
  call(method: Method, path: string, options?: CallOptions): request.Test;
}

export interface TestApi {
  db: Db;
  queues: Queues;
  kapso: KapsoServer;
  oidc: OidcServer;
  deps: ManageDeps;
  url: string;
  redisUrl: string;
  /** Creates an organization. */
  world(environment?: Environment): Promise<World>;
  /** The same organization in another environment. */
  sibling(world: World, environment: Environment): Promise<World>;
  /** A person of the organization, with a proved address, a password and a session. */
  person(world: World, role: PersonRole): Promise<Person>;
  keyOf(
    scope: Scope,
    permissions: Permission[],
    options?: { role?: string; expiresAt?: Date },
  ): Promise<string>;
  call(method: Method, path: string, options?: CallOptions): request.Test;
  close(): Promise<void>;
}

export const testSecretsKey = Buffer.alloc(32, 7).toString('base64');
const password = 'correct horse 42';
const passwordHash = hashPassword(password);

export const oidcSettingsOf = ({ url, clientId, clientSecret }: OidcServer): OidcSettings => ({
  issuer: url,
  clientId,
  clientSecret,
  name: 'Acme',
  sendsIdentityWebhook: false,
});

/**
 * The management service with a database, which is a new one by default, and a Redis of its own,
 * called over HTTP.
 */
export async function createTestApi(
  more: Partial<ManageDeps> = {},
  ownDatabase?: Awaited<ReturnType<typeof createTestDatabase>>,
): Promise<TestApi> {
  const [database, redisServer, kapso, oidc] = await Promise.all([
    ownDatabase ?? createTestDatabase(),
    createTestRedis(),
    startKapsoServer(),
    startOidcServer(),
  ]);
  const db = createDb({ databaseUrl: database.url, poolSize: 6 });
  const redis = connectRedis({ url: redisServer.url, role: 'producer' });
  const limiterRedis = connectRedis({ url: redisServer.url, role: 'limiter' });
  const bellRedis = connectRedis({ url: redisServer.url, role: 'worker' });
  const executionBells = createExecutionBells(bellRedis);
  const admitSignIn = createSignInLimit(limiterRedis, { perPerson: 100_000, perAddress: 100_000 });
  const queues = createQueues({ redis });
  const box = createSecretBox(testSecretsKey);
  const entities = createEntities({ db });
  const guard = createGuardedFetch({ allowedPrivateHosts: ['127.0.0.1'] });
  const { guards = { mcp: guard, providers: guard } } = more;
  const channels = createChannels({
    db,
    box,
    settings: {
      KAPSO_API_URL: kapso.url,
      KAPSO_API_KEY: kapso.apiKey,
      RESEND_API_URL: 'http://127.0.0.1:9',
    },
    log: silentLogger(),
    guard: guards.providers,
  });
  const deps: ManageDeps = {
    db,
    box,
    queues,
    channels,
    connect: {
      db,
      accounts: channels.accounts,
      timeoutMs: 1_000,
      guard: guards.providers,
      webhookUrl: 'https://parley.example/webhook/kapso/messages',
      webhookSecrets: ['kapso'],
    },
    payments: createPayments({
      db,
      entities,
      box,
      publicUrl: 'https://parley.example',
      log: silentLogger(),
      flow: { guard: guards.providers },
    }),
    publicUrl: 'https://parley.example',
    guards,
    addresses: { kapso: kapso.url, resend: 'http://127.0.0.1:9' },
    admitSignIn,
    admitReset: createSignInLimit(
      limiterRedis,
      { perPerson: 100_000, perAddress: 100_000 },
      'password-reset',
    ),
    admitVisitor: createVisitorLimit(limiterRedis),
    sealedCookies: createSealedCookies(testSecretsKey),
    oidc: createOidc(oidcSettingsOf(oidc), 'https://parley.example/v1/sign-in/oidc/callback'),
    log: silentLogger(),
    checkResponses: true,
    executionChunks: createExecutionChunks(redis),
    executionBells,
    executionStreamLimits: {
      openStreams: new OpenStreams(),
      perCaller: 50,
      perOrganization: 80,
      commentEveryMs: 50,
      maxOpenMs: 600,
    },
    // Short, because tests of all operations wait for the end of each response.
    streamLimits: {
      openStreams: new OpenStreams(),
      perCaller: 5,
      perOrganization: 8,
      commentEveryMs: 50,
      maxOpenMs: 300,
    },
    ...more,
  };
  const app = createManageApp(deps);

  const call: TestApi['call'] = (method, path, { key, body, headers = {} } = {}) => {
    const test = request(app)[method](path).set(headers);
    if (key !== undefined) void test.set('Authorization', `Bearer ${key}`);
    if (body === undefined) return test;
    return typeof body === 'string'
      ? test
          .set('Content-Type', 'application/json')
          .serialize((text) => text)
          .send(body)
      : test.send(body as object);
  };
  const keyOf: TestApi['keyOf'] = async (scope, permissions, options) =>
    (await createApiKey(db, { ...scope, name: permissions.join(' '), permissions, ...options }))
      .key;
  const worldOf = async (scope: Scope): Promise<World> => {
    const key = await keyOf(scope, ['manage']);
    return {
      api,
      db,
      scope,
      key,
      call: (method, path, options) => call(method, path, { key, ...options }),
    };
  };
  const api: TestApi = {
    db,
    queues,
    kapso,
    oidc,
    deps,
    url: database.url,
    redisUrl: redisServer.url,
    async world(environment = 'development') {
      const organizationId = newId('org');
      const { rows } = await db.pool.query<{ no: number }>(
        'insert into organizations (id, slug, name, updated_at) values ($1, lower($1), $1, now()) returning no',
        [organizationId],
      );
      return worldOf({ organizationId, tenant: rows[0]!.no, environment });
    },
    sibling: ({ scope }, environment) => worldOf({ ...scope, environment }),
    async person({ scope: { tenant, organizationId, environment } }, role) {
      const email = `${newId('p')}@example.com`;
      const id = await createUser(db, { email, name: 'Ana Rojas' });
      await db.transaction(async (tx) => {
        await putPassword(tx, id, email, await passwordHash);
        await proveEmail(tx, id, email, null);
      });
      await addMember(db, { tenant }, id, role);
      const { id: sessionId, token } = await createSession(db, id, {
        address: '203.0.113.7',
        userAgent: 'test',
      });
      const headers = {
        Cookie: `__Host-parley_session=${token}`,
        'Sec-Fetch-Site': 'same-origin',
        'Parley-Organization': organizationId,
        'Parley-Environment': environment,
      };
      return { id, email, password, sessionId, headers };
    },
    call,
    keyOf,
    async close() {
      await entities.settled();
      await kapso.stop();
      await oidc.stop();
      await guard.close();
      await queues.close();
      executionBells.close();
      await Promise.all([redis, limiterRedis, bellRedis].map(closeRedis));
      await db.close();
      await database.drop();
    },
  };
  return api;
}
