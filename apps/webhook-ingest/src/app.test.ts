import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { type Server, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { type Db, createDb } from '@parley/db';
import { closeRedis, connectRedis, createQueues, deliveryJobs } from '@parley/queues';
import { silentLogger } from '@parley/service';
import { type TestDatabase, createTestDatabase, createTestRedis, seedOrganization } from '@parley/testing';
import { createInbox, signBody, signStandardWebhook } from '@parley/webhooks';
import { createIngestApp } from './app';
import { createJobSender } from './job-sender';
import { createRefusalLog } from './refusal-log';

type Secrets = Parameters<typeof createIngestApp>[0]['secrets'];

const svix = `whsec_${Buffer.alloc(32, 1).toString('base64')}`;
const all = { clerk: [svix], kapso: ['old', 'kapso'], polar: ['polar_whs_x'], resend: [svix] } as Secrets;
const fixture = (file: string) => readFileSync(join(__dirname, '../../../libs/webhooks/fixtures', file));

let database: TestDatabase;
let db: Db;
const closing: (() => Promise<unknown> | unknown)[] = [];

beforeAll(async () => {
  database = await createTestDatabase();
  db = createDb({ databaseUrl: database.url });
  const { scope } = await seedOrganization(db.pool);
  await db.pool.query(
    `insert into channel_connections (id, organization_id, environment, phone_number_id, status, updated_at)
     values ('conn', $1, 'development', '109876543210987', 'connected', now())`,
    [scope.organizationId],
  );
});
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
  await db.pool.query('delete from webhook_deliveries');
});
afterAll(async () => {
  await db.close();
  await database.drop();
});

async function open({
  secrets = all,
  databaseUrl = database.url,
  redisUrl,
}: { secrets?: Secrets; databaseUrl?: string; redisUrl?: string } = {}) {
  const own = createDb({ databaseUrl });
  const redis = connectRedis({ url: redisUrl ?? (await createTestRedis()).url, role: 'producer' });
  const queues = createQueues({ redis });
  const log = silentLogger();
  const inbox = createInbox(own.pool);
  const jobs = createJobSender({ queues, log });
  const app = createIngestApp({
    db: own,
    inbox,
    jobs,
    log,
    secrets,
    checkResponses: true,
    refusals: createRefusalLog({ inbox, log }),
  } as Parameters<typeof createIngestApp>[0]);
  const server: Server = createServer(app);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closing.push(
    () => own.close(),
    () => closeRedis(redis),
    () => queues.close(),
    () => jobs.settled(),
    () => new Promise((resolve) => (server.close(resolve), server.closeAllConnections())),
  );
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return async (path: string, body: Buffer | string, headers: Record<string, string> = {}) => {
    const response = await fetch(url + path, { method: 'POST', body: new Uint8Array(Buffer.from(body)), headers });
    return { status: response.status, body: (await response.json()) as Record<string, unknown> };
  };
}

function signed(
  path: string,
  body: Buffer | string,
  { id = randomUUID(), nowMs = Date.now() }: { id?: string; nowMs?: number } = {},
): Record<string, string> {
  const bytes = Buffer.from(body);
  if (path.startsWith('/webhook/kapso')) return { 'x-webhook-signature': signBody(bytes, 'kapso') };
  const polar = path === '/webhook/polar';
  return signStandardWebhook({
    id,
    body: bytes,
    secret: polar ? 'polar_whs_x' : svix,
    family: polar ? 'webhook' : 'svix',
    isSecretDecoded: !polar,
    nowMs,
  });
}

const deliveries = async () =>
  (
    await db.pool.query(
      'select provider, delivery_id, path, event_type, status, reason, headers, body, organization_id from webhook_deliveries order by received_at',
    )
  ).rows as Record<string, unknown>[];

const bodies: Record<string, string> = {
  '/webhook/clerk': 'clerk/user.created.json',
  '/webhook/kapso/project': 'kapso/whatsapp.phone_number.created.json',
  '/webhook/kapso/messages': 'kapso/whatsapp.message.received.json',
  '/webhook/polar': 'polar/order.paid.json',
  '/webhook/resend': 'resend/email.delivered.json',
};
const paths = Object.keys(bodies);
const event = { 'x-webhook-event': 'whatsapp.phone_number.created' };
const eventOf = (path: string): Record<string, string> =>
  path === '/webhook/kapso/project'
    ? event
    : path === '/webhook/kapso/messages'
      ? { 'x-webhook-event': 'whatsapp.message.received' }
      : {};
const refusal: Record<string, number> = {
  '/webhook/clerk': 401,
  '/webhook/kapso/project': 403,
  '/webhook/kapso/messages': 403,
  '/webhook/polar': 400,
  '/webhook/resend': 400,
};
const malformed: Record<string, number> = {
  ...Object.fromEntries(paths.map((path) => [path, 500])),
  '/webhook/polar': 400,
  '/webhook/resend': 400,
};

test('every door has its job', () => {
  expect(paths.filter((path) => deliveryJobs[path] === undefined)).toEqual([]);
});

describe.each(paths)('%s', (path) => {
  test('a signed delivery is kept, raw, and acknowledged; a second one is acknowledged alike and kept once', async () => {
    const post = await open();
    const body = fixture(bodies[path]!);
    const headers = { ...eventOf(path), ...signed(path, body, { id: 'msg_1' }), 'x-idempotency-key': 'key_1' };
    for (let round = 0; round < 3; round += 1)
      expect(await post(path, body, headers)).toEqual({ status: 200, body: { received: true } });
    const kept = await deliveries();
    expect(kept).toMatchObject([{ path, status: 'received', reason: null }]);
    expect(body.equals(kept[0]!.body as Buffer)).toBe(true);
    expect(JSON.stringify(kept[0]!.headers)).not.toContain('signature');
  });

  test('a wrong signature is refused; the inbox says why and the reply does not', async () => {
    const post = await open();
    const body = fixture(bodies[path]!);
    const headers = signed(path, `${body.toString()} `);
    const { status, body: reply } = await post(path, body, headers);
    expect(status).toBe(refusal[path]);
    expect(reply).toEqual({ error: 'Invalid signature', code: 'invalid_signature', requestId: expect.any(String) });
    expect(await deliveries()).toMatchObject([{ status: 'rejected', reason: expect.stringContaining('secret') }]);
    expect((await post(path, body)).status).toBe(refusal[path]);
    expect((await deliveries())[1]).toMatchObject({ status: 'rejected', reason: expect.stringContaining('missing') });
  });

  test('a body that cannot be understood is the failure that the interface names', async () => {
    const post = await open();
    // The event that Kapso names in a header does not make up for a body without sense.
    const headers: Record<string, string> = path.includes('kapso') ? { 'x-webhook-event': 'something.else' } : {};
    for (const body of ['', '[]', '{', '"x"', '{}', '{"type":5}', '{"type":["x"]}', '{"type":{},"data":{}}']) {
      expect((await post(path, body, signed(path, body))).status).toBe(malformed[path]);
      expect((await post(path, body, { ...headers, ...signed(path, body) })).status).toBe(malformed[path]);
    }
    expect((await deliveries()).every(({ status }) => status === 'failed')).toBe(true);
  });

  test('an event that nobody needs is acknowledged and kept', async () => {
    const post = await open();
    const body = JSON.stringify({ type: 'something.else', event: 'something.else', data: {} });
    expect((await post(path, body, signed(path, body))).status).toBe(200);
    expect(await deliveries()).toMatchObject([{ status: 'ignored', event_type: 'something.else' }]);
  });

  test('without Redis it is accepted all the same', async () => {
    const post = await open({ redisUrl: 'redis://127.0.0.1:1' });
    const body = fixture(bodies[path]!);
    expect((await post(path, body, { ...eventOf(path), ...signed(path, body) })).status).toBe(200);
    expect(await deliveries()).toMatchObject([{ status: 'received' }]);
  });

  test('without PostgreSQL it is a failure, so that the provider tries again', async () => {
    const post = await open({ databaseUrl: 'postgres://nobody@127.0.0.1:1/none' });
    const body = fixture(bodies[path]!);
    const { status, body: reply } = await post(path, body, { ...eventOf(path), ...signed(path, body) });
    expect(status).toBe(malformed[path] === 500 ? 500 : 503);
    expect(JSON.stringify(reply)).not.toMatch(/ECONN|127\.0\.0\.1/);
  });
});

test.each(['/webhook/polar', '/webhook/resend'])('%s refuses what is old and what is from the future', async (path) => {
  const post = await open();
  const body = fixture(bodies[path]!);
  for (const [seconds, status] of [
    [-330, 400],
    [-270, 200],
    [270, 200],
    [330, 400],
  ] as const)
    expect((await post(path, body, signed(path, body, { nowMs: Date.now() + seconds * 1000 }))).status).toBe(status);
  const reasons = (await deliveries()).filter(({ status }) => status === 'rejected').map(({ reason }) => reason);
  expect(reasons).toEqual([expect.stringMatching(/clock: .* s old/), expect.stringMatching(/clock: .* in the future/)]);
});

test('without a secret Clerk is unsigned, as the interface says, and the others are refused', async () => {
  const post = await open({ secrets: { ...all, clerk: [], kapso: [], polar: [], resend: [] } });
  for (const path of paths) {
    const body = fixture(bodies[path]!);
    const { status } = await post(path, body, { ...eventOf(path), ...signed(path, body) });
    expect({ path, status }).toEqual({ path, status: path === '/webhook/clerk' ? 200 : refusal[path] });
  }
});

test('a message to an unknown number is 500 and kept; once the number is known the retry goes through', async () => {
  const post = await open();
  const path = '/webhook/kapso/messages';
  const body = fixture('kapso/whatsapp.message.received.unknown-number.json');
  const headers = { ...eventOf(path), ...signed(path, body), 'x-idempotency-key': 'k' };
  const { status, body: reply } = await post(path, body, headers);
  expect({ status, error: reply.error }).toEqual({ status: 500, error: 'Phone number not found' });
  expect(await deliveries()).toMatchObject([{ status: 'unattributed' }]);
  await db.pool.query(
    `insert into channel_connections (id, organization_id, environment, phone_number_id, status, updated_at)
     select 'conn2', organization_id, environment, '999999999999999', 'connected', now() from channel_connections limit 1`,
  );
  expect((await post(path, body, headers)).status).toBe(200);
  expect(await deliveries()).toMatchObject([{ status: 'received', organization_id: expect.any(String) }]);
});

test('NUL and half characters in a message do not stop it', async () => {
  const post = await open();
  const path = '/webhook/kapso/messages';
  const body = fixture(bodies[path]!).toString().replace('Hola, quiero', '\\u0000Hola \\ud800');
  expect((await post(path, body, { ...eventOf(path), ...signed(path, body) })).status).toBe(200);
});

test('a flood of refused deliveries costs no more than 30 rows a minute', async () => {
  const post = await open();
  await Promise.all(Array.from({ length: 80 }, () => post('/webhook/polar', '{}')));
  const count = (await deliveries()).length;
  expect(count).toBeGreaterThanOrEqual(30);
  // The minute may have turned in between.
  expect(count).toBeLessThanOrEqual(60);
});

test('Flow hears 200 whatever it sends, and nothing of it is kept', async () => {
  const post = await open();
  for (const body of [Buffer.alloc(3 * 1024 * 1024), '', '{"token":"x"}', 'token=&%zz', Buffer.from([0xff, 0])])
    for (const type of ['application/x-www-form-urlencoded', 'application/json', 'nonsense'])
      expect(await post('/webhook/flow', body, { 'content-type': type })).toEqual({
        status: 200,
        body: { received: true },
      });
  expect(await deliveries()).toEqual([]);
});

test('too large a body is 413', async () => {
  const post = await open();
  expect((await post('/webhook/polar', Buffer.alloc(1024 * 1024 + 1))).status).toBe(413);
});
