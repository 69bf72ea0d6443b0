import { type Socket, connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { until } from '@parley/testing';
import { assistant, catalog } from './catalog';
import { type Client, push } from './client';
import { messageReceived, orderPaid, phoneNumberId } from './deliveries';
import { peakBytes } from './peak-bytes';
import { shared, startOwnStack } from './stack';
import { type Tenant, createTenant } from './tenant';

jest.setTimeout(240_000);

/** More than the gateway has connections to a service. */
const count = 600;
/** The memory limit of the service's container in k8s/base. */
const manageLimitBytes = 512 * 1_048_576;

let stack: Awaited<ReturnType<typeof startOwnStack>>;
/** The organization that floods, and the one that must not notice it. */
let busy: Tenant;
let other: Tenant;
let otherClient: Client;
let busyClient: Client & { key: string };
let threadId: string;
beforeAll(async () => {
  stack = await startOwnStack({
    services: ['data', 'chat', 'manage', 'webhook-ingest', 'worker', 'gateway'],
    environment: {
      ...shared.webhookSecrets,
      NODE_ENV: 'production',
      LOG_LEVEL: 'warn',
      KAPSO_API_KEY: 'key',
      KAPSO_API_URL: 'http://127.0.0.1:1',
      // The floods stay open while others are served.
      BODY_GRACE_MS: '120000',
      SLOW_BODIES_PER_ADDRESS: '10000',
    },
  });
  busy = await createTenant(stack);
  other = await createTenant(stack);
  busyClient = await busy.client({ permissions: ['*', 'manage'] });
  otherClient = await other.client({ permissions: ['*', 'manage'] });
  await push(busyClient, catalog);
  await busy.query(
    `insert into channel_connections (id, tenant, environment, phone_number_id, status, agent_slug, updated_at)
     values ($1, $2, 'development', $1, 'connected', $3, now())`,
    [phoneNumberId, busy.scope.tenant, assistant.slug],
  );
  const { path, body, headers } = messageReceived('wamid.flood', '14155550001', 'Hello');
  await fetch(stack.url + path, {
    method: 'POST',
    body,
    headers: { ...headers(), 'Content-Type': 'application/json' },
  });
  const threads = await until(
    async () => (await busyClient.get('/v1/threads')).body.data as { id: string }[],
    {
      isThere: ({ length }) => length === 1,
    },
  );
  threadId = threads[0]!.id;
  // Executions that are started from here on stay queued.
  await stack.services.worker!.stop();
});
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
});
afterAll(async () => {
  await busy?.close();
  await other?.close();
  await stack?.stop();
});

const sockets: Socket[] = [];
const head = (line: string, ...headers: string[]) =>
  [`${line} HTTP/1.1`, 'Host: localhost', ...headers, '', ''].join('\r\n');

/** Opens connections that send a text and no more. Returns what they receive. */
async function flood(text: string): Promise<string[]> {
  const received = Array.from({ length: count }, () => '');
  const { hostname, port } = new URL(stack.url);
  const opened = received.map((_, at) => {
    const socket = connect(Number(port), hostname);
    socket.setEncoding('latin1').on('data', (data: string) => (received[at] += data));
    socket.on('error', () => {}).write(text);
    return socket;
  });
  sockets.push(...opened);
  await until(async () => opened.filter(({ connecting }) => connecting).length, {
    isThere: (left) => left === 0,
  });
  return received;
}

const unanswered = (received: string[]) => received.filter((text) => text === '').length;

async function payFor(tenant: Tenant, orderId: string): Promise<number> {
  const { path, body, headers } = orderPaid(tenant.organizationId, orderId, 100);
  const init = {
    method: 'POST',
    body,
    headers: { ...headers(), 'Content-Type': 'application/json' },
  };
  return (await fetch(stack.url + path, init)).status;
}

it.each([
  ['webhooks', 'POST /webhook/kapso/messages'],
  ['the sign-in', 'POST /v1/sessions'],
])('600 bodies without a key that do not arrive do not delay others: %s', async (_name, line) => {
  const received = await flood(
    `${head(line, 'Sec-Fetch-Site: same-origin', 'Content-Length: 900000')}a`,
  );
  expect((await otherClient.get('/v1/threads')).status).toBe(200);
  expect((await otherClient.get('/v1/entity-types')).status).toBe(200);
  expect(await payFor(other, `order-${line.length}`)).toBe(200);
  expect(unanswered(received)).toBe(count);
});

it('600 waits of one key do not delay others, and only 500 of them wait', async () => {
  const started = await busyClient.post('/v1/executions', {
    agentSlug: assistant.slug,
    message: 'Hello',
  });
  const line = `GET /v1/executions/${started.body.executionId}?wait=30`;
  const received = await flood(head(line, `Authorization: Bearer ${busyClient.key}`));
  await until(async () => unanswered(received), { isThere: (left) => left === 500 });
  expect((await otherClient.get('/v1/threads')).status).toBe(200);
  expect((await otherClient.get('/v1/sign-in')).status).toBe(200);
  expect(unanswered(received)).toBe(500);
  const refused = received.filter((text) => text !== '');
  for (const text of refused) expect(text).toMatch(/^HTTP\/1\.1 429 .*"code":"too_many_streams"/s);
});

it('600 requests that wait for the first one with their Idempotency-Key do not delay others', async () => {
  const body = JSON.stringify({
    agentSlug: assistant.slug,
    message: 'Hello',
    externalThreadId: 'web:1',
  });
  const headers = [
    ...[`Authorization: Bearer ${busyClient.key}`, 'Idempotency-Key: one', 'Prefer: wait=30'],
    ...['Content-Type: application/json', `Content-Length: ${body.length}`],
  ];
  const received = await flood(head('POST /v1/executions', ...headers) + body);
  await until(async () => unanswered(received), { isThere: (left) => left < 200 });
  expect((await otherClient.get('/v1/threads')).status).toBe(200);
  expect(unanswered(received)).toBeGreaterThan(100);
  for (const text of received.filter((one) => one !== ''))
    expect(text).toMatch(/"code":"(idempotency_in_progress|too_many_streams)"/);
});

it('twelve replies with files of 10 MiB leave manage below its memory limit, and others served', async () => {
  const file = {
    filename: 'a.jpg',
    data: Buffer.concat([Buffer.from('ffd8ffe0', 'hex'), Buffer.alloc(10_485_000)]),
  };
  const reply = JSON.stringify({ file: { ...file, data: file.data.toString('base64') } });
  let sent = 0;
  const refusals: string[] = [];
  const send = async () => {
    for (;;) {
      const answer = await busyClient.post(`/v1/threads/${threadId}/messages`, reply);
      if (answer.status === 201) break;
      refusals.push(`${answer.status} ${answer.body.code}`);
      // wall clock: a client waits as the answer says, four times faster.
      await sleep(Number(answer.headers.get('retry-after')) * 250);
    }
    sent += 1;
  };
  const replies = Promise.all(Array.from({ length: 12 }, send));
  let served = 0;
  while (sent < 12) {
    expect((await otherClient.get('/v1/threads')).status).toBe(200);
    served += 1;
    // wall clock: the pace of another organization's requests.
    await sleep(20);
  }
  await replies;
  expect(served).toBeGreaterThan(2);
  // The gateway refuses what its memory does not hold, and the service what waits too long.
  for (const refusal of refusals)
    expect(['503 busy', '429 too_many_large_bodies']).toContain(refusal);
  expect(await peakBytes(stack.services.manage!)).toBeLessThan(manageLimitBytes);
  expect(await peakBytes(stack.services.gateway!)).toBeLessThan(512 * 1_048_576);
});
