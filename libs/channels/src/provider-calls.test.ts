import { randomBytes, randomUUID } from 'node:crypto';
import type { Scope } from '@parley/contracts';
import { type Db, createDb, createSecretBox } from '@parley/db';
import {
  type ProviderAnswer,
  type ProviderRequest,
  type ProviderServer,
  openTestDatabase,
  seedOrganization,
  startProviderServer,
  until,
} from '@parley/testing';
import { createChannels } from './create-channels';
import { createKapsoClient } from './kapso/kapso-client';
import { checkCredentials } from './check-credentials';

const limits = { limitMs: 10_000, everyMs: 5 };

let db: Db;
beforeAll(async () => {
  db = await openTestDatabase(createDb);
});
afterAll(() => db.close());

const servers: ProviderServer[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.stop();
});

async function serve(
  answer: (request: ProviderRequest) => ProviderAnswer | Promise<ProviderAnswer>,
): Promise<string> {
  const server = await startProviderServer(answer);
  servers.push(server);
  return server.url;
}

test('a redirect is not followed, so that the key is not sent elsewhere, and is reported', async () => {
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
  expect(
    await checkCredentials('kapso', { config: { apiUrl: url }, secrets: { apiKey: 'secret' } }),
  ).toEqual({
    ok: false,
    message: `${url}/platform/v1/customers: the address answers with a redirect, which is not followed`,
  });
  expect(asked).toEqual([]);
});

describe('while a provider hangs for one organization', () => {
  const slots = 4;
  const phoneNumberId = '109876543210987';

  async function serveHanging() {
    const hanging: { path: string; answer: (given: ProviderAnswer) => void }[] = [];
    const url = await serve(
      ({ path }) => new Promise((answer) => void hanging.push({ path, answer })),
    );
    const channels = createChannels({
      db,
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
    const answerAll = () =>
      hanging.splice(0).forEach(({ answer }) => {
        const id = randomUUID();
        answer({ status: 200, body: { id, messages: [{ id }], data: [] } });
      });
    const email = (scope: Scope) =>
      channels.sendEmail(scope, { to: ['c@d.cl'], subject: 'Hello', content: { text: 'Hello' } });
    return { url, hanging, channels, answerAll, email };
  }

  async function addMessage({ tenant }: Scope, id: string, attempts = 0): Promise<string> {
    await db.pool.query(
      `insert into channel_connections (id, tenant, environment, phone_number_id, status, agent_slug, updated_at)
       values ('conn_' || $1::int, $1, 'development', $2 || $1, 'connected', 'helper', now()) on conflict do nothing`,
      [tenant, phoneNumberId],
    );
    await db.pool.query(
      `insert into messages (id, tenant, environment, connection_id, direction, contact, type, text, payload,
                             status, attempts, updated_at)
       values ($1, $2, 'development', 'conn_' || $2::int, 'outbound', $1, 'text', 'Hello',
               '{"to":"14155550000","type":"text","text":{"body":"Hello"}}', 'queued', $3, now())`,
      [id, tenant, attempts],
    );
    return id;
  }
  const rowOf = async (table: 'messages' | 'emails', id: string) =>
    (await db.pool.query(`select status, attempts, error from ${table} where id = $1`, [id]))
      .rows[0];
  const isDue = (table: 'messages' | 'emails', id: string) =>
    db.pool.query(`update ${table} set lease_until = now() - interval '1 second' where id = $1`, [
      id,
    ]);

  test('calls of other organizations are not delayed, and a client that may wait gets the next free slot', async () => {
    const { url, hanging, channels, answerAll, email } = await serveHanging();
    const [{ scope: busy }, { scope: other }] = [
      await seedOrganization(db.pool),
      await seedOrganization(db.pool),
    ];
    const getNumber = async (scope: Scope, timeoutMs?: number) =>
      createKapsoClient((await channels.accounts.kapso(scope))!, { timeoutMs }).getPhoneNumber('1');
    const emails = Array.from({ length: slots }, () => email(busy));
    await until(() => hanging.length === slots, limits);
    expect(await getNumber(busy, 100)).toEqual({
      ok: false,
      reason: 'no_slot',
      message: `too many calls to ${new URL(url).host} are waiting for an answer`,
    });
    const waiting = getNumber(busy);
    const others = [getNumber(other), email(other)];
    await until(() => hanging.length === slots + 2, limits);
    expect(hanging.slice(slots).map(({ path }) => path)).toEqual(
      expect.arrayContaining(['/platform/v1/whatsapp/phone_numbers/1', '/emails']),
    );
    answerAll();
    await until(() => hanging.length === 1, limits);
    answerAll();
    for (const outcome of await Promise.all([...emails, ...others, waiting]))
      expect(outcome).toMatchObject({ ok: true });
  });

  test('a message and an e-mail without a slot are queued again immediately, and the attempt is not counted', async () => {
    const { url, hanging, channels, answerAll, email } = await serveHanging();
    const { scope } = await seedOrganization(db.pool);
    const held = Array.from({ length: slots }, () => email(scope));
    await until(() => hanging.length === slots, limits);
    const error = `no request sent: too many calls to ${new URL(url).host} are waiting for an answer`;

    const messageId = await addMessage(scope, 'wam_last', 19);
    const sent = await email(scope);
    if (!sent.ok) throw new Error(sent.reason);
    expect(sent.email).toMatchObject({ status: 'queued', error });
    await db.pool.query('update emails set attempts = 7 where id = $1', [sent.email.id]);
    for (let round = 0; round < 3; round += 1) {
      await Promise.all([isDue('messages', messageId), isDue('emails', sent.email.id)]);
      expect(await channels.sendQueuedMessage(scope, messageId)).toBe('later');
      expect(await channels.sendQueuedEmail(sent.email.id)).toBe('later');
      expect(hanging).toHaveLength(slots);
      expect(await rowOf('messages', messageId)).toEqual({ status: 'queued', attempts: 19, error });
      expect(await rowOf('emails', sent.email.id)).toEqual({
        status: 'queued',
        attempts: 7,
        error,
      });
    }
    // The message may have been sent before. It stays `sending`, and does not fail because
    // there is no slot.
    await db.pool.query(
      "update messages set status = 'sending', lease_until = now() - interval '1 second' where id = $1",
      [messageId],
    );
    expect(await channels.sendQueuedMessage(scope, messageId)).toBe('later');
    expect(await rowOf('messages', messageId)).toMatchObject({ status: 'sending', attempts: 19 });
    expect(hanging).toHaveLength(slots);

    answerAll();
    await Promise.all(held);
    await Promise.all([isDue('messages', messageId), isDue('emails', sent.email.id)]);
    const tries = [
      channels.sendQueuedMessage(scope, messageId),
      channels.sendQueuedEmail(sent.email.id),
    ];
    const timer = setInterval(answerAll, 5);
    expect(await Promise.all(tries)).toEqual(['sent', 'sent']);
    clearInterval(timer);
  });
});
