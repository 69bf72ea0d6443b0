import { once } from 'node:events';
import { type IncomingMessage, request as httpRequest } from 'node:http';
import { connect } from 'node:net';
import { type ServiceName, until } from '@parley/testing';
import pg from 'pg';
import { assistant, catalog } from './catalog';
import { type Client, createClient, push } from './client';
import { startOwnStack } from './stack';
import { type Tenant, createTenant } from './tenant';

let stack: Awaited<ReturnType<typeof startOwnStack>>;
let tenant: Tenant;
let client: Client & { key: string };
beforeAll(async () => {
  // Long enough to answer requests that were sent before a service is stopped, even
  // on a busy machine.
  stack = await startOwnStack({
    services: ['data', 'chat', 'webhook-ingest', 'tool-executor', 'worker', 'gateway'],
    environment: { SHUTDOWN_DRAIN_MS: '1000' },
  });
  tenant = await createTenant(stack);
  client = await tenant.client();
  await push(client, catalog);
});
afterAll(async () => {
  await tenant?.close();
  await stack?.stop();
});

const service = (name: ServiceName) => stack.services[name]!;
const chat = () => client.post(`/v1/agents/${assistant.slug}/chat`, { message: 'hi' });
const list = () => client.get('/v1/data/product');
const health = () => createClient(stack.url).get('/health');

it.each([
  { killed: 'chat', fails: chat, answers: [list, health] },
  { killed: 'data', fails: list, answers: [chat, health] },
] as const)(
  'while $killed is down the other services answer, and it answers again after its start',
  async ({ killed, fails, answers }) => {
    expect((await fails()).status).toBe(200);
    await service(killed).kill();
    const down = await fails();
    expect(down.status).toBe(503);
    expect(down.headers.get('retry-after')).toMatch(/^\d+$/);
    expect(down.body).toEqual({
      error: `The ${killed} service is temporarily unavailable`,
      code: 'upstream_unavailable',
      requestId: down.headers.get('x-request-id'),
    });
    for (const answer of answers) expect((await answer()).status).toBe(200);
    await service(killed).start();
    expect((await fails()).status).toBe(200);
  },
);

it('requests are answered while the worker is down', async () => {
  if (!stack.services.worker) return;
  await service('worker').kill();
  expect([(await chat()).status, (await list()).status, (await health()).status]).toEqual([
    200, 200, 200,
  ]);
  await service('worker').start();
});

it('requests to a service that is down or not deployed are answered with 503, and the gateway keeps running', async () => {
  for (const path of ['/webhook/clerk', '/execute']) {
    const name = path === '/execute' ? 'tool-executor' : 'webhook-ingest';
    await stack.services[name]?.kill();
    const answer = await client.post(path, {});
    expect(answer.status).toBe(503);
    expect(answer.body.code).toMatch(/^(upstream_unavailable|service_not_deployed)$/);
    await stack.services[name]?.start();
  }
  expect((await health()).status).toBe(200);
});

it('a payment callback is answered with 200 when webhook-ingest is killed in the middle of it', async () => {
  const lock = new pg.Client({ connectionString: stack.databaseUrl });
  await lock.connect();
  try {
    // The callback waits for the table in which its token is looked up.
    await lock.query('begin; lock table payment_orders in access exclusive mode');
    const answer = fetch(`${stack.url}/webhook/flow`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
      body: 'token=killed-in-the-middle',
    });
    const waiting = `select from pg_stat_activity
                     where application_name = 'parley-webhook-ingest' and wait_event_type = 'Lock' and datname = current_database()`;
    await until(async () => (await tenant.query(waiting)).length > 0, { everyMs: 5 });
    await service('webhook-ingest').kill();
    const response = await answer;
    expect([response.status, await response.json()]).toEqual([200, { received: true }]);
    const metrics = await fetch(`${service('gateway').internalUrl}/metrics`);
    expect(await metrics.text()).toMatch(/^gateway_unprocessed_webhooks_total\{.*\} 1$/m);
  } finally {
    await lock.end();
    await service('webhook-ingest').start();
  }
});

/**
 * Begins a request: the gateway has its headers, as `100 Continue` shows. `finish` sends the body
 * and returns the status.
 */
async function begin(): Promise<{ finish(): Promise<number> }> {
  const body = JSON.stringify({ message: 'hi' });
  const request = httpRequest(`${stack.url}/v1/agents/${assistant.slug}/chat`, {
    method: 'POST',
    headers: {
      Authorization: `Bearer ${client.key}`,
      'Content-Type': 'application/json',
      'Content-Length': body.length,
      Expect: '100-continue',
    },
  });
  await once(request, 'continue');
  return {
    async finish() {
      request.end(body);
      const [answer] = (await once(request, 'response')) as [IncomingMessage];
      answer.resume();
      return answer.statusCode!;
    },
  };
}

it('services that are stopped answer running requests and end with status 0', async () => {
  const running = await Promise.all(Array.from({ length: 10 }, begin));
  const stopped = service('gateway').stop();
  await untilRefused(stack.url);
  expect(await Promise.all(running.map(({ finish }) => finish()))).toEqual(Array(10).fill(200));
  expect(await stopped).toBe(0);
  for (const name of ['chat', 'data'] as const)
    expect([name, await service(name).stop()]).toEqual([name, 0]);
  for (const name of ['gateway', 'chat', 'data'] as const) await service(name).start();
  expect((await chat()).status).toBe(200);
});

/** Waits until connections to the address are refused. */
async function untilRefused(url: string): Promise<void> {
  const { hostname, port } = new URL(url);
  await until(async () => {
    const socket = connect(Number(port), hostname);
    const refused = await once(socket, 'connect').then(
      () => false,
      () => true,
    );
    socket.destroy();
    return refused;
  });
}
