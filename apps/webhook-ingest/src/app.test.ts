import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { type Server, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { webhookSecretOf } from '@parley/channels';
import { type Db, createDb } from '@parley/db';
import { closeRedis, connectRedis, createQueues, deliveryJobs } from '@parley/redis';
import { silentLogger } from '@parley/service';
import {
  createTestDatabase,
  createTestRedis,
  fillDisk,
  openTestDatabase,
  seedOrganization,
} from '@parley/testing';
import { createInbox, signBody, signStandardWebhook } from '@parley/webhooks';
import { createIngestApp } from './app';
import { createJobSender } from './job-sender';
import { kapsoMessagesEndpoint } from './providers/kapso-messages';
import { createRefusalLog } from './refusal-log';

type Secrets = Parameters<typeof createIngestApp>[0]['secrets'];

const svix = `whsec_${Buffer.alloc(32, 1).toString('base64')}`;
const all = {
  clerk: [svix],
  kapso: ['old', 'kapso'],
  polar: ['polar_whs_x'],
  resend: [svix],
} as Secrets;
const fixture = (file: string) =>
  readFileSync(join(__dirname, '../../../libs/webhooks/fixtures', file));

let db: Db & { url: string };
const closing: (() => Promise<unknown> | unknown)[] = [];

beforeAll(async () => {
  db = await openTestDatabase(createDb);
  const { scope } = await seedOrganization(db.pool);
  await db.pool.query(
    `insert into channel_connections (id, tenant, environment, phone_number_id, status, updated_at)
     values ('conn', $1, 'development', '109876543210987', 'connected', now())`,
    [scope.tenant],
  );
});
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
  await db.pool.query('delete from webhook_deliveries');
});
afterAll(() => db.close());

async function open({
  secrets = all,
  databaseUrl = db.url,
  redisUrl,
  acceptsUnsignedIdentity,
}: {
  secrets?: Secrets;
  databaseUrl?: string;
  redisUrl?: string;
  acceptsUnsignedIdentity?: boolean;
} = {}) {
  const own = createDb({ databaseUrl });
  const redis = connectRedis({ url: redisUrl ?? (await createTestRedis()).url, role: 'producer' });
  const queues = createQueues({ redis });
  const log = silentLogger();
  const inbox = createInbox(own);
  const jobs = createJobSender({ queues, log });
  const app = createIngestApp({
    db: own,
    inbox,
    jobs,
    log,
    secrets,
    acceptsUnsignedIdentity,
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
    () =>
      new Promise((resolve) => {
        server.close(resolve);
        server.closeAllConnections();
      }),
  );
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return async (path: string, body: Buffer | string, headers: Record<string, string> = {}) => {
    const response = await fetch(url + path, {
      method: 'POST',
      body: new Uint8Array(Buffer.from(body)),
      headers,
    });
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
      'select provider, delivery_id, path, event_type, status, reason, headers, body, tenant, signed from webhook_deliveries order by received_at',
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

test('every endpoint has a job', () => {
  expect(paths.filter((path) => deliveryJobs[path] === undefined)).toEqual([]);
});

describe.each(paths)('%s', (path) => {
  test('a signed delivery is acknowledged and stored unchanged; repeated deliveries are acknowledged and not stored again', async () => {
    const post = await open();
    const body = fixture(bodies[path]!);
    const headers = {
      ...eventOf(path),
      ...signed(path, body, { id: 'msg_1' }),
      'x-idempotency-key': 'key_1',
    };
    for (let round = 0; round < 3; round += 1)
      expect(await post(path, body, headers)).toEqual({ status: 200, body: { received: true } });
    const kept = await deliveries();
    expect(kept).toMatchObject([{ path, status: 'received', reason: null, signed: true }]);
    expect(body.equals(kept[0]!.body as Buffer)).toBe(true);
    expect(JSON.stringify(kept[0]!.headers)).not.toContain('signature');
  });

  test('a wrong signature is refused; the reason is in the inbox and not in the reply', async () => {
    const post = await open();
    const body = fixture(bodies[path]!);
    const headers = signed(path, `${body.toString()} `);
    const { status, body: reply } = await post(path, body, headers);
    expect(status).toBe(refusal[path]);
    expect(reply).toEqual({
      error: 'Invalid signature',
      code: 'invalid_signature',
      requestId: expect.any(String),
    });
    const reason = expect.stringContaining('secret');
    expect(await deliveries()).toMatchObject([{ status: 'rejected', reason, signed: false }]);
    expect((await post(path, body)).status).toBe(refusal[path]);
    expect((await deliveries())[1]).toMatchObject({
      status: 'rejected',
      reason: expect.stringContaining('missing'),
    });
  });

  test('a malformed body is refused with the status of the API reference', async () => {
    const post = await open();
    // The event in Kapso's header does not make up for a malformed body.
    const headers: Record<string, string> = path.includes('kapso')
      ? { 'x-webhook-event': 'something.else' }
      : {};
    for (const body of [
      '',
      '[]',
      '{',
      '"x"',
      '{}',
      '{"type":5}',
      '{"type":["x"]}',
      '{"type":{},"data":{}}',
    ]) {
      expect((await post(path, body, signed(path, body))).status).toBe(malformed[path]);
      expect((await post(path, body, { ...headers, ...signed(path, body) })).status).toBe(
        malformed[path],
      );
    }
    expect((await deliveries()).every(({ status }) => status === 'failed')).toBe(true);
  });

  test('an event without effect is acknowledged and stored as ignored', async () => {
    const post = await open();
    const body = JSON.stringify({ type: 'something.else', event: 'something.else', data: {} });
    expect((await post(path, body, signed(path, body))).status).toBe(200);
    expect(await deliveries()).toMatchObject([{ status: 'ignored', event_type: 'something.else' }]);
  });

  test('a delivery is accepted while Redis is unavailable', async () => {
    const post = await open({ redisUrl: 'redis://127.0.0.1:1' });
    const body = fixture(bodies[path]!);
    expect((await post(path, body, { ...eventOf(path), ...signed(path, body) })).status).toBe(200);
    expect(await deliveries()).toMatchObject([{ status: 'received' }]);
  });

  test('a delivery is answered with 5xx while PostgreSQL is unavailable, so that the provider retries it', async () => {
    const post = await open({ databaseUrl: 'postgres://unused@127.0.0.1:1/none' });
    const body = fixture(bodies[path]!);
    const { status, body: reply } = await post(path, body, {
      ...eventOf(path),
      ...signed(path, body),
    });
    expect(status).toBe(malformed[path] === 500 ? 500 : 503);
    expect(JSON.stringify(reply)).not.toMatch(/ECONN|127\.0\.0\.1/);
  });
});

test.each(['/webhook/polar', '/webhook/resend'])(
  '%s refuses deliveries older than 5 minutes or from the future',
  async (path) => {
    const post = await open();
    const body = fixture(bodies[path]!);
    for (const [seconds, status] of [
      [-330, 400],
      [-270, 200],
      [270, 200],
      [330, 400],
    ] as const)
      expect(
        (await post(path, body, signed(path, body, { nowMs: Date.now() + seconds * 1000 }))).status,
      ).toBe(status);
    const reasons = (await deliveries())
      .filter(({ status }) => status === 'rejected')
      .map(({ reason }) => reason);
    expect(reasons).toEqual([
      expect.stringMatching(/clock: .* s old/),
      expect.stringMatching(/clock: .* in the future/),
    ]);
  },
);

const noSecrets = { clerk: [], kapso: [], polar: [], resend: [] };

test('without secrets, unsigned deliveries of Clerk are accepted and deliveries of other providers are refused', async () => {
  const post = await open({ secrets: noSecrets, acceptsUnsignedIdentity: true });
  for (const path of paths) {
    const body = fixture(bodies[path]!);
    const { status } = await post(path, body, { ...eventOf(path), ...signed(path, body) });
    expect({ path, status }).toEqual({
      path,
      status: path === '/webhook/clerk' ? 200 : refusal[path],
    });
  }
  const stored = (await deliveries()).filter(({ status }) => status === 'received');
  expect(stored).toMatchObject([{ path: '/webhook/clerk', signed: false }]);
});

describe('/webhook/clerk, unsigned', () => {
  const path = '/webhook/clerk';
  const body = fixture('clerk/organization.deleted.json');

  test('without a secret, a delivery is refused like a wrong signature, unless unsigned deliveries are accepted', async () => {
    const post = await open({ secrets: noSecrets });
    for (const headers of [{}, { 'svix-id': 'msg_1' }, signed(path, body)])
      expect(await post(path, body, headers)).toEqual({
        status: 401,
        body: {
          error: 'Invalid signature',
          code: 'invalid_signature',
          requestId: expect.any(String),
        },
      });
    const reason = 'IDENTITY_WEBHOOK_SECRET is not set';
    expect(await deliveries()).toEqual(
      Array.from({ length: 3 }, () =>
        expect.objectContaining({ status: 'rejected', reason, signed: false }),
      ),
    );
    expect(
      (await (await open({ secrets: noSecrets, acceptsUnsignedIdentity: true }))(path, body))
        .status,
    ).toBe(200);
  });

  test('with a secret, an unsigned delivery is refused even if unsigned deliveries are accepted', async () => {
    const post = await open({ acceptsUnsignedIdentity: true });
    expect((await post(path, body)).status).toBe(401);
    expect((await post(path, body, signed(path, body))).status).toBe(200);
    expect((await deliveries()).map(({ status, signed: isSigned }) => [status, isSigned])).toEqual([
      ['rejected', false],
      ['received', true],
    ]);
  });

  test('malformed and unhandled deliveries are not stored; a handled one is stored once, whatever id its header names', async () => {
    const post = await open({ secrets: noSecrets, acceptsUnsignedIdentity: true });
    const member = {
      id: 'orgmem_1',
      organization: { id: 'org_1' },
      public_user_data: { user_id: 'user_1' },
    };
    const tooLong = 'x'.repeat(256);
    for (const [status, given] of [
      [500, '{'],
      [500, ''],
      [500, '[]'],
      [500, Buffer.from([0xff, 0])],
      [500, JSON.stringify({ data: {} })],
      [500, JSON.stringify({ type: 'user.created', data: {} })],
      [500, JSON.stringify({ type: 'user.created', data: { id: { $ne: '' } } })],
      [500, JSON.stringify({ type: 'user.created', data: { id: tooLong } })],
      [500, JSON.stringify({ type: 'organizationMembership.created', data: { id: 'orgmem_1' } })],
      [
        500,
        JSON.stringify({
          type: 'organizationMembership.updated',
          data: { ...member, organization: 'org_1' },
        }),
      ],
      [
        500,
        JSON.stringify({
          type: 'organizationMembership.created',
          data: { ...member, public_user_data: null },
        }),
      ],
      [
        200,
        JSON.stringify({
          type: 'session.created',
          data: { id: 'sess_1', note: 'ñ'.repeat(10_000) },
        }),
      ],
      [200, JSON.stringify({ type: 'x'.repeat(100_000), data: null })],
    ] as const)
      expect({ given, status: (await post(path, given)).status }).toEqual({ given, status });
    expect(await deliveries()).toEqual([]);
    const event = JSON.stringify({ type: 'organizationMembership.created', data: member });
    for (const id of ['msg_1', 'msg_2'])
      expect((await post(path, event, { 'svix-id': id })).status).toBe(200);
    expect(await deliveries()).toMatchObject([
      { delivery_id: expect.stringMatching(/^body-/), status: 'received', signed: false },
    ]);
  });
});

test('a captured message sent under another event does not occupy the id of the message', async () => {
  const post = await open();
  const path = '/webhook/kapso/messages';
  const body = fixture('kapso/whatsapp.message.received.json');
  const key = { 'x-idempotency-key': 'the-same' };
  const other = { ...signed(path, body), ...key, 'x-webhook-event': 'whatsapp.conversation.ended' };
  expect((await post(path, body, other)).status).toBe(200);
  expect((await post(path, body, { ...eventOf(path), ...signed(path, body), ...key })).status).toBe(
    200,
  );
  expect((await deliveries()).map(({ status }) => status).sort()).toEqual(['ignored', 'received']);
});

test('a message to an unknown number is stored and answered with 500; a retry succeeds once the number is connected', async () => {
  const post = await open();
  const path = '/webhook/kapso/messages';
  const body = fixture('kapso/whatsapp.message.received.unknown-number.json');
  const headers = { ...eventOf(path), ...signed(path, body), 'x-idempotency-key': 'k' };
  const { status, body: reply } = await post(path, body, headers);
  expect({ status, error: reply.error }).toEqual({ status: 500, error: 'Phone number not found' });
  expect(await deliveries()).toMatchObject([{ status: 'unattributed' }]);
  await db.pool.query(
    `insert into channel_connections (id, tenant, environment, phone_number_id, status, updated_at)
     select 'conn2', tenant, environment, '999999999999999', 'connected', now() from channel_connections limit 1`,
  );
  expect((await post(path, body, headers)).status).toBe(200);
  expect(await deliveries()).toMatchObject([{ status: 'received', tenant: expect.any(Number) }]);
});

describe('the secret of a connection, which its organization knows', () => {
  const path = '/webhook/kapso/messages';
  const message = JSON.parse(fixture(bodies[path]!).toString()) as { conversation: object };
  /** A message to a number. */
  const about = (phoneNumberId: string, item: { conversation: object } = message) =>
    JSON.stringify({
      ...item,
      phone_number_id: phoneNumberId,
      conversation: { ...item.conversation, phone_number_id: phoneNumberId },
    });
  const signedBy = (connectionId: string, body: string, secret = 'kapso') => ({
    ...eventOf(path),
    'x-webhook-signature': signBody(Buffer.from(body), webhookSecretOf(secret, connectionId)),
  });
  const own = about('109876543210987');
  const other = about('222222222222222');

  beforeAll(async () => {
    await db.pool.query(
      `insert into channel_connections (id, tenant, environment, phone_number_id, status, updated_at)
       select 'conn_other', tenant, environment, '222222222222222', 'connected', now() from channel_connections
       where id = 'conn'`,
    );
  });

  test('signs for its own number, also while the deployment secret is being rotated', async () => {
    const post = await open();
    for (const secret of ['kapso', 'old']) {
      const headers = { ...signedBy('conn', own, secret), 'x-idempotency-key': secret };
      expect((await post(path, own, headers)).status).toBe(200);
    }
    const batch = JSON.stringify({
      type: 'whatsapp.message.received',
      batch: true,
      data: [JSON.parse(own)],
    });
    expect((await post(path, batch, signedBy('conn', batch))).status).toBe(200);
    expect((await post(path, own, signedBy('conn', own, 'never'))).status).toBe(403);
    expect((await deliveries()).map(({ status }) => status)).toEqual([
      'received',
      'received',
      'received',
      'rejected',
    ]);
  });

  test('does not sign for a number of another connection, an unknown number, several numbers or none', async () => {
    const post = await open();
    const { phone_number_id: _, ...nameless } = JSON.parse(own) as { phone_number_id: string };
    const refused = [
      other,
      about('333333333333333'),
      about('1'.repeat(5_000)),
      JSON.stringify({
        type: 'whatsapp.message.received',
        batch: true,
        data: [JSON.parse(own), JSON.parse(other)],
      }),
      JSON.stringify({ ...JSON.parse(own), data: [JSON.parse(other)] }),
      JSON.stringify({ ...nameless, conversation: {} }),
      'not JSON',
    ];
    // In the second round its own number is cached.
    for (const round of [1, 2]) {
      for (const body of refused) {
        const { status, body: reply } = await post(path, body, signedBy('conn', body));
        expect({ round, status, error: reply.error }).toEqual({
          round,
          status: 403,
          error: 'Invalid signature',
        });
      }
      expect((await post(path, own, signedBy('conn', own))).status).toBe(200);
    }
    expect((await post(path, other, signedBy('', other))).status).toBe(403);
    expect((await post(path, about('333'), signedBy('', about('333')))).status).toBe(403);
  });

  test('does not sign an event that only the header names', async () => {
    const post = await open();
    const headers = { ...signedBy('conn', own), 'x-webhook-event': 'whatsapp.message.failed' };
    expect((await post(path, own, headers)).status).toBe(403);
    expect(await deliveries()).toMatchObject([
      { status: 'rejected', reason: expect.stringContaining('x-webhook-event') },
    ]);
  });

  test('does not sign for the project endpoint, where it could disconnect numbers of other organizations', async () => {
    const post = await open();
    const project = '/webhook/kapso/project';
    const body = fixture('kapso/whatsapp.phone_number.deleted.json').toString();
    const headers = {
      ...signedBy('conn', body),
      'x-webhook-event': 'whatsapp.phone_number.deleted',
    };
    expect((await post(project, body, headers)).status).toBe(403);
    expect((await post(project, body, { ...headers, ...signed(project, body) })).status).toBe(200);
  });

  test('is replaced immediately when the number moves to another connection', async () => {
    const post = await open();
    expect((await post(path, other, signedBy('conn_other', other))).status).toBe(200);
    await db.pool.query("update channel_connections set id = 'conn_moved' where id = 'conn_other'");
    expect((await post(path, other, signedBy('conn_moved', other))).status).toBe(200);
    await db.pool.query("update channel_connections set id = 'conn_other' where id = 'conn_moved'");
  });

  test('determines the owner of a delivery even if the number moves before the delivery is stored', async () => {
    const endpoint = kapsoMessagesEndpoint(['kapso']);
    const delivery = { headers: signedBy('conn_other', other), body: Buffer.from(other) };
    const { rows } = await db.pool.query(
      "select tenant from channel_connections where id = 'conn_other'",
    );
    const { scope } = await seedOrganization(db.pool, { slug: 'new-owner' });
    expect(await endpoint.verifyOwner!(db, delivery, { ok: false, reason: 'secret' })).toEqual({
      ok: true,
    });
    const moveTo = (owner: number) =>
      db.pool.query("update channel_connections set tenant = $1 where id = 'conn_other'", [owner]);
    await moveTo(scope.tenant);
    // wall clock: numbers are cached for 2 s.
    await sleep(2_100);
    const owner = { tenant: rows[0].tenant as number, environment: 'development' };
    expect(await endpoint.locate!(db, delivery)).toEqual({ ok: true, owner });
    await moveTo(owner.tenant);
  });

  test('is answered with 500 while PostgreSQL is unavailable; a malformed signature is still refused', async () => {
    const post = await open({ databaseUrl: 'postgres://unused@127.0.0.1:1/none' });
    expect((await post(path, own, signedBy('conn', own))).status).toBe(500);
    expect((await post(path, own, eventOf(path))).status).toBe(403);
    expect(
      (await post(path, own, { ...eventOf(path), 'x-webhook-signature': 'none' })).status,
    ).toBe(403);
  });
});

describe("Kapso's event header, which is not signed", () => {
  const post = async (path: string, file: string, name: string, change: object = {}) => {
    const send = await open();
    const body = JSON.stringify({
      ...(JSON.parse(fixture(`kapso/${file}.json`).toString()) as object),
      ...change,
    });
    const { status } = await send(path, body, { 'x-webhook-event': name, ...signed(path, body) });
    const [kept] = await deliveries();
    return [status, kept!.status, kept!.event_type];
  };
  const [messages, project] = ['/webhook/kapso/messages', '/webhook/kapso/project'];
  const [received, deleted] = ['whatsapp.message.received', 'whatsapp.phone_number.deleted'];

  test.each([
    ['a captured message, as the disconnection of its number', project, received, deleted, {}],
    [
      'a captured batch, as the disconnection of its number',
      project,
      `${received}.batch`,
      deleted,
      {},
    ],
    [
      'a conversation, as the disconnection of its number',
      project,
      'whatsapp.conversation.ended.unhandled',
      deleted,
      {},
    ],
    ['a body that names another event', messages, 'interface-shape.message.status', received, {}],
    ['a batch of another event', messages, `${received}.batch`, 'whatsapp.message.failed', {}],
    ['an inbound message, as a status', messages, received, 'whatsapp.message.failed', {}],
    ['an outbound message, as an inbound one', messages, 'whatsapp.message.sent', received, {}],
    [
      'a body of the project endpoint without a project or customer',
      project,
      deleted,
      deleted,
      { project: null, customer: null },
    ],
  ])('%s: a header that contradicts the body is refused', async (_, path, file, name, change) => {
    expect(await post(path, file, name, change)).toEqual([403, 'rejected', null]);
  });

  test('an event of the project is malformed as a message', async () => {
    expect(await post(messages, 'whatsapp.phone_number.created', received)).toEqual([
      500,
      'failed',
      null,
    ]);
  });

  test('a message whose signed body names a project event is refused as malformed', async () => {
    expect(await post(project, received, '', { event: deleted })).toEqual([500, 'failed', null]);
    await db.pool.query('delete from webhook_deliveries');
    expect(
      await post(project, `${received}.batch`, '', { event: deleted, phone_number_id: '1' }),
    ).toEqual([500, 'failed', null]);
  });

  const { samples } = JSON.parse(fixture('manifest.json').toString()) as {
    samples: { file: string; path: string; event: string }[];
  };
  test.each(
    samples.filter(({ path, file }) => path.includes('kapso') && !file.includes('unknown-number')),
  )('$file is accepted under its own event', async ({ file, path, event: name }) => {
    const [status, , kept] = await post(path, file.replace(/^kapso\/|\.json$/g, ''), name);
    expect([status, kept]).toEqual([200, name]);
  });
});

describe('a message that cannot be understood', () => {
  const path = '/webhook/kapso/messages';
  const good = JSON.parse(fixture(bodies[path]!).toString()) as Record<string, unknown>;
  const { message: _, ...without } = good;
  const bad = [
    without,
    ...[null, 'Hola', 5, [], {}, { id: '' }, { id: null }].map((message) => ({ ...good, message })),
  ];

  test.each(bad.map((body) => [JSON.stringify({ message: body.message }), body]))(
    '%s is answered with 500 and stored as failed, whether the body or the header names the event',
    async (_name, body) => {
      const post = await open();
      for (const [event, named] of [
        ['whatsapp.message.received', { ...body, event: 'whatsapp.message.received' }],
        ['whatsapp.message.failed', { ...body, event: 'whatsapp.message.failed' }],
        ['whatsapp.message.received', body],
      ] as const) {
        const text = JSON.stringify(named);
        const headers = { 'x-webhook-event': event, ...signed(path, text) };
        expect(await post(path, text, headers)).toMatchObject({
          status: 500,
          body: { code: 'processing_failed' },
        });
        expect((await deliveries()).map(({ status }) => status)).toEqual(['failed']);
        await db.pool.query('delete from webhook_deliveries');
      }
    },
  );

  test('in a batch does not lose the others: the batch is stored for them, and every try is answered with 500', async () => {
    const post = await open();
    for (const item of bad) {
      const body = JSON.stringify({
        type: 'whatsapp.message.received',
        batch: true,
        data: [item, good],
      });
      for (let round = 0; round < 2; round += 1)
        expect((await post(path, body, signed(path, body))).status).toBe(500);
      expect((await deliveries()).map(({ status }) => status)).toEqual(['received']);
      await db.pool.query('delete from webhook_deliveries');
    }
  });
});

test('a membership without an organization is answered with 500, whatever its event', async () => {
  const post = await open();
  const path = '/webhook/clerk';
  for (const event of ['created', 'updated', 'deleted'])
    for (const organization of [undefined, null, 'org_1', {}, { id: '' }]) {
      const data = { id: 'orgmem_1', public_user_data: { user_id: 'user_1' }, organization };
      const body = JSON.stringify({ type: `organizationMembership.${event}`, data });
      expect(await post(path, body, signed(path, body))).toMatchObject({ status: 500 });
    }
  expect((await deliveries()).every(({ status }) => status === 'failed')).toBe(true);
});

test('a message with NUL and lone surrogates is accepted', async () => {
  const post = await open();
  const path = '/webhook/kapso/messages';
  const body = fixture(bodies[path]!).toString().replace('Hola, quiero', '\\u0000Hola \\ud800');
  expect((await post(path, body, { ...eventOf(path), ...signed(path, body) })).status).toBe(200);
});

test('a flood of refused deliveries stores at most 30 rows a minute', async () => {
  const post = await open();
  await Promise.all(Array.from({ length: 80 }, () => post('/webhook/polar', '{}')));
  const count = (await deliveries()).length;
  expect(count).toBeGreaterThanOrEqual(30);
  // A new minute may have begun in between.
  expect(count).toBeLessThanOrEqual(60);
});

test('/webhook/flow answers 200 to any body, and does not store a malformed one', async () => {
  const post = await open();
  for (const body of [
    Buffer.alloc(3 * 1024 * 1024),
    '',
    '{"token":"x"}',
    'token=&%zz',
    Buffer.from([0xff, 0]),
  ])
    for (const type of ['application/x-www-form-urlencoded', 'application/json', 'nonsense'])
      expect(await post('/webhook/flow', body, { 'content-type': type })).toEqual({
        status: 200,
        body: { received: true },
      });
  expect(await deliveries()).toEqual([]);
});

test('on a full disk deliveries are answered with 5xx, so that providers retry them, and callbacks of payments are held', async () => {
  const full = await createTestDatabase();
  await fillDisk(full.url, 'webhook_deliveries');
  const other = createDb({ databaseUrl: full.url });
  const { scope } = await seedOrganization(other.pool);
  await other.pool.query(
    `insert into payment_orders (payment_id, tenant, environment, flow_token) values ('ent_paid', $1, 'development', 'TOKEN')`,
    [scope.tenant],
  );
  await other.pool.query(
    `insert into channel_connections (id, tenant, environment, phone_number_id, status, updated_at)
     values ('conn', $1, 'development', '109876543210987', 'connected', now())`,
    [scope.tenant],
  );
  const { url: redisUrl } = await createTestRedis();
  const post = await open({ databaseUrl: full.url, redisUrl });
  for (const path of paths) {
    const body = fixture(bodies[path]!);
    const { status } = await post(path, body, { ...eventOf(path), ...signed(path, body) });
    expect([path, status]).toEqual([path, malformed[path] === 500 ? 500 : 503]);
  }
  expect(await post('/webhook/flow', 'token=TOKEN')).toEqual({
    status: 200,
    body: { received: true },
  });
  const redis = connectRedis({ url: redisUrl, role: 'worker' });
  expect(await redis.zrange('parley:held-tokens', 0, '10')).toEqual(['TOKEN']);
  await closeRedis(redis);
  await other.close();
  closing.unshift(() => full.drop());
});

test('a body above the limit is answered with 413', async () => {
  const post = await open();
  expect((await post('/webhook/polar', Buffer.alloc(1024 * 1024 + 1))).status).toBe(413);
});
