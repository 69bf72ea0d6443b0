import { once } from 'node:events';
import { type Server, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { rounds, until } from '@parley/testing';
import { assistant } from './catalog';
import { type Client, push } from './client';
import { bytesOf, kapsoMessages, orderPaid, phoneNumberId, sample, sign } from './deliveries';
import { peakBytes } from './peak-bytes';
import { shared, startOwnStack } from './stack';
import { type Tenant, createTenant } from './tenant';

/*
 * Each service at the memory limit of its container, with the heap that V8 derives from it
 * (libs/embedded heapFlagsOf), while one organization sends it the largest that it accepts.
 * large-rows.test and floods.test do the same with manage, data and the gateway.
 */

jest.setTimeout(240_000);

const mebibyte = 1_048_576;
/** Memory limits of the containers in k8s/base, in MiB. */
const limitsMib = { chat: 1_536, worker: 768, 'webhook-ingest': 384 };
/** The part of a limit that a test allows. */
const allowed = 0.9;
/** Requests of each kind to chat, and executions of the worker, at the same time. */
const calls = rounds(4, 8);
const executions = rounds(8, 20);
/** At least so much of an answer without end is read before it is refused. */
const readBytes = 6 * mebibyte;

let stack: Awaited<ReturnType<typeof startOwnStack>>;
let models: Server;
/** Bytes that the models have sent. */
let sentBytes = 0;
/** The organization that sends what is large, and another one, whose agent asks no model server. */
let busy: Client & { key: string };
let other: Client;
let tenants: Tenant[];

/** A server of models whose answers of 900 MiB never end in JSON. */
async function startHostileModels(): Promise<Server> {
  const chunk = Buffer.alloc(64 * 1_024, 'x');
  const server = createServer((_request, response) => {
    response.on('error', () => {}).writeHead(200, { 'Content-Type': 'application/json' });
    let leftBytes = 900 * mebibyte;
    const write = () => {
      while (leftBytes > 0 && !response.destroyed) {
        leftBytes -= chunk.length;
        sentBytes += chunk.length;
        if (!response.write(chunk)) {
          response.once('drain', write);
          return;
        }
      }
      response.end();
    };
    write();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

beforeAll(async () => {
  models = await startHostileModels();
  stack = await startOwnStack({
    services: ['data', 'chat', 'manage', 'webhook-ingest', 'worker', 'gateway'],
    environment: {
      ...shared.webhookSecrets,
      NODE_ENV: 'production',
      OPENAI_API_KEY: 'sk-test',
      OPENAI_BASE_URL: `http://127.0.0.1:${(models.address() as AddressInfo).port}/v1`,
    },
  });
  tenants = [await createTenant(stack), await createTenant(stack)];
  busy = await tenants[0]!.client({ permissions: ['*', 'manage'] });
  other = await tenants[1]!.client({ permissions: ['*', 'manage'] });
  const hostile = { ...assistant, slug: 'hostile', model: 'openai/hostile' };
  await push(busy, { agents: [assistant, hostile] });
  await push(other, { agents: [assistant] });
  await tenants[0]!.query(
    `insert into channel_connections (id, tenant, environment, phone_number_id, status, agent_slug, updated_at)
     values ($1, $2, 'development', $1, 'connected', $3, now())`,
    [phoneNumberId, tenants[0]!.scope.tenant, assistant.slug],
  );
});
afterAll(async () => {
  for (const tenant of tenants ?? []) await tenant.close();
  await stack?.stop();
  models?.closeAllConnections();
  models?.close();
});

type Name = keyof typeof limitsMib;

/** The most memory that a service has had, as a part of the limit of its container. */
async function peakOf(name: Name): Promise<number> {
  const peakMib = (await peakBytes(stack.services[name]!)) / mebibyte;
  return peakMib / limitsMib[name];
}

/** Does the work, and meanwhile repeats a call of another organization, each of which succeeds. */
async function meanwhile<T>(work: Promise<T>, call: () => Promise<void>): Promise<T> {
  let isOver = false;
  const ended = work.finally(() => {
    isOver = true;
  });
  do await call();
  while (!isOver);
  return ended;
}

/** Sends JSON and reads the whole answer. */
async function post(
  path: string,
  body: string,
  headers: Record<string, string>,
): Promise<{ status: number }> {
  const all = { ...headers, 'Content-Type': 'application/json' };
  const response = await fetch(stack.url + path, { method: 'POST', body, headers: all });
  await response.arrayBuffer();
  return { status: response.status };
}

async function chatOfOther(): Promise<void> {
  const { status } = await other.post(`/v1/agents/${assistant.slug}/chat`, { message: 'Hello' });
  expect(status).toBe(200);
}

const times = <T>(count: number, work: (at: number) => Promise<T>): Promise<T>[] =>
  Array.from({ length: count }, (_, at) => work(at));

test('chat survives the largest messages and models that answer without end', async () => {
  const { pid } = stack.services.chat!;
  sentBytes = 0;
  const message = 'ñ'.repeat(3.5 * mebibyte);
  const large = () => busy.post(`/v1/agents/${assistant.slug}/chat`, { message });
  const whole = () => busy.post('/v1/agents/hostile/chat', { message: 'Hello' });
  const completion = {
    model: 'agent:hostile',
    messages: [{ role: 'user', content: 'Hello' }],
    stream: true,
  };
  const streamed = () =>
    post('/openai/v1/chat/completions', JSON.stringify(completion), {
      Authorization: `Bearer ${busy.key}`,
    });
  const all = Promise.all([
    ...times(calls, large),
    ...times(calls, whole),
    ...times(calls, streamed),
  ]);
  const answers = await meanwhile(all, chatOfOther);
  // A stream that fails has begun with 200.
  const statuses = new Set(answers.map(({ status }) => status));
  expect([200, 429, 502, 503]).toEqual(expect.arrayContaining([...statuses]));
  expect(sentBytes).toBeGreaterThan(2 * calls * readBytes);
  expect(stack.services.chat!.pid).toBe(pid);
  expect(await peakOf('chat')).toBeLessThan(allowed);
});

test('the worker survives models that answer without end', async () => {
  const { pid } = stack.services.worker!;
  sentBytes = 0;
  const begun = await Promise.all(
    times(executions, () =>
      busy.post('/v1/executions', { agentSlug: 'hostile', message: 'Hello' }),
    ),
  );
  const ids = begun.map(({ body }) => String(body.executionId));
  const stateOf = async (id: string) =>
    (await busy.get(`/v1/executions/${id}`)).body.status as string;
  const allFailed = until(async () => Promise.all(ids.map(stateOf)), {
    isThere: (states) => states.every((state) => state === 'failed'),
    limitMs: 200_000,
    everyMs: 500,
  });
  await meanwhile(allFailed, chatOfOther);
  const execution = await other.post('/v1/executions', {
    agentSlug: assistant.slug,
    message: 'Hello',
  });
  await until(
    async () =>
      (await other.get(`/v1/executions/${execution.body.executionId}`)).body.status === 'succeeded',
  );
  expect(sentBytes).toBeGreaterThan(executions * readBytes);
  expect(stack.services.worker!.pid).toBe(pid);
  expect(await peakOf('worker')).toBeLessThan(allowed);
});

test('webhook-ingest and the worker survive deliveries of the largest size', async () => {
  const [ingest, worker] = [stack.services['webhook-ingest']!.pid, stack.services.worker!.pid];
  const event = 'whatsapp.message.received';
  const large = (at: number) => {
    const delivery = {
      ...sample(`kapso/${event}`),
      filler: `${at}${'x'.repeat(mebibyte - 20_000)}`,
    };
    const body = bytesOf(delivery);
    return post(kapsoMessages, body.toString(), sign(kapsoMessages, body, { event }));
  };
  const pay = async () => {
    const { path, body, headers } = orderPaid(
      tenants[1]!.organizationId,
      `order-${Math.random()}`,
      100,
    );
    expect(await post(path, body, headers())).toMatchObject({ status: 200 });
  };
  const answers = await meanwhile(Promise.all(times(100, large)), pay);
  const statuses = new Set(answers.map(({ status }) => status));
  expect([200, 429, 503]).toEqual(expect.arrayContaining([...statuses]));
  expect(statuses).toContain(200);
  expect(stack.services['webhook-ingest']!.pid).toBe(ingest);
  expect(stack.services.worker!.pid).toBe(worker);
  expect(await peakOf('webhook-ingest')).toBeLessThan(allowed);
  expect(await peakOf('worker')).toBeLessThan(allowed);
});
