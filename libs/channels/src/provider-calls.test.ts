import { randomBytes, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Db, createDb, createSecretBox } from '@parley/db';
import {
  type ProviderAnswer,
  type ProviderRequest,
  type ProviderServer,
  type TestDatabase,
  createTestDatabase,
  seedOrganization,
  startProviderServer,
} from '@parley/testing';
import { createChannels } from './create-channels';
import { createKapsoClient } from './kapso/kapso-client';
import { testAccount } from './test-account';

let database: TestDatabase;
let db: Db;
beforeAll(async () => {
  database = await createTestDatabase();
  db = createDb({ databaseUrl: database.url });
});
afterAll(async () => {
  await db.close();
  await database.drop();
});

const servers: ProviderServer[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.stop();
});

async function serve(answer: (request: ProviderRequest) => ProviderAnswer | Promise<ProviderAnswer>): Promise<string> {
  const server = await startProviderServer(answer);
  servers.push(server);
  return server.url;
}

test('a redirect is not followed, so the key stays here, and the reason is said', async () => {
  const asked: string[] = [];
  const elsewhere = await serve(({ headers }) => {
    asked.push(String(headers['x-api-key']));
    return { status: 200, body: { data: {} } };
  });
  const url = await serve(() => ({ status: 307, headers: { Location: elsewhere } }));
  const kapso = createKapsoClient({ organizationId: 'a', apiUrl: url, apiKey: 'secret' });
  expect(await kapso.getPhoneNumber('1')).toMatchObject({
    ok: false,
    reason: 'refused',
    message: '307: the address answers with a redirect, which is not followed',
  });
  expect(await testAccount('kapso', { config: { apiUrl: url }, secrets: { apiKey: 'secret' } })).toEqual({
    ok: false,
    message: `${url}/platform/v1/customers: the address answers with a redirect, which is not followed`,
  });
  expect(asked).toEqual([]);
});

test('a provider that hangs for one organization holds up neither the messages nor the e-mails of another', async () => {
  const hanging: { path: string; answer: (given: ProviderAnswer) => void }[] = [];
  const url = await serve(({ path }) => new Promise((answer) => void hanging.push({ path, answer })));
  const channels = createChannels({
    db: db.pool,
    box: createSecretBox(randomBytes(32).toString('base64')),
    settings: {
      KAPSO_API_URL: url,
      KAPSO_API_KEY: 'k',
      RESEND_API_URL: url,
      RESEND_API_KEY: 'r',
      EMAIL_FROM: 'a@b.cl',
    },
    log: { warn: () => {} },
  });
  const [{ scope: busy }, { scope: other }] = [await seedOrganization(db.pool), await seedOrganization(db.pool)];
  const check = async (scope: typeof busy, timeoutMs?: number) =>
    createKapsoClient((await channels.accounts.kapso(scope))!, timeoutMs).check();
  const email = (scope: typeof busy) =>
    channels.sendEmail(scope, { to: ['c@d.cl'], subject: 'Hello', content: { text: 'Hello' } });
  const places = 16;

  const emails = Array.from({ length: places + 1 }, () => email(busy));
  await until(() => hanging.length === places);
  expect(await check(busy, 100)).toEqual({
    ok: false,
    reason: 'again',
    message: `too many calls to ${new URL(url).host} are waiting for an answer`,
    afterMs: null,
    isServerError: false,
  });
  const others = [check(other), email(other)];
  await until(() => hanging.length === places + 2);
  expect(hanging.slice(places).map(({ path }) => path)).toEqual(
    expect.arrayContaining(['/platform/v1/customers', '/emails']),
  );
  // What waited is sent once places are free.
  const answerAll = () =>
    hanging.splice(0).forEach(({ answer }) => answer({ status: 200, body: { id: randomUUID() } }));
  answerAll();
  await until(() => hanging.length === 1);
  answerAll();
  for (const outcome of await Promise.all([...emails, ...others])) expect(outcome).toMatchObject({ ok: true });
});

async function until(isSo: () => boolean): Promise<void> {
  for (let left = 2_000; !isSo(); left -= 1) {
    if (left === 0) throw new Error('It did not happen in time');
    await sleep(5);
  }
}
