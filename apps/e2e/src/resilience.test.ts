import type { ServiceName } from '@parley/testing';
import { assistant, catalog } from './catalog';
import { type Client, createClient, push } from './client';
import { ownStack } from './stack';
import { type Tenant, createTenant } from './tenant';

let stack: Awaited<ReturnType<typeof ownStack>>;
let tenant: Tenant;
let client: Client;
beforeAll(async () => {
  stack = await ownStack();
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
  'while $killed is dead the others answer, and it is back once it runs',
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

it('the worker may die without anybody noticing', async () => {
  if (!stack.services.worker) return;
  await service('worker').kill();
  expect([(await chat()).status, (await list()).status, (await health()).status]).toEqual([200, 200, 200]);
  await service('worker').start();
});

it('a service that is not deployed or down answers 503, and never takes the gateway with it', async () => {
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

it('services leave with status 0 when asked to, and the running requests are answered', async () => {
  const running = Array.from({ length: 10 }, () => chat());
  const answered = Promise.all(running);
  await running[0];
  for (const name of ['gateway', 'chat', 'data'] as const)
    expect([name, await service(name).stop()]).toEqual([name, 0]);
  expect((await answered).map(({ status }) => status)).toEqual(Array(10).fill(200));
  await expect(health()).rejects.toThrow();
  for (const name of ['gateway', 'chat', 'data'] as const) await service(name).start();
  expect((await chat()).status).toBe(200);
});
