import { type ModelServer, type ServiceName, startModelServer, until } from '@parley/testing';
import { assistant, catalog } from './catalog';
import { type Client, push } from './client';
import { startOwnStack } from './stack';
import { type Tenant, createTenant } from './tenant';

/**
 * The metrics by which an autoscaler adds processes (k8s/components/keda), under a load of turns
 * that wait for their model.
 */
let stack: Awaited<ReturnType<typeof startOwnStack>>;
let models: ModelServer;
let tenant: Tenant;
let client: Client;

beforeAll(async () => {
  models = await startModelServer();
  stack = await startOwnStack({
    environment: { OPENAI_BASE_URL: models.urls.openai, OPENAI_API_KEY: 'sk-test' },
    services: ['gateway', 'data', 'chat', 'manage', 'worker'],
  });
  tenant = await createTenant(stack);
  client = await tenant.client({ permissions: ['*', 'manage'] });
  await push(client, {
    ...catalog,
    agents: [{ ...assistant, model: 'openai/gpt-5-mini', tools: [] }],
  });
}, 60_000);
afterAll(async () => {
  await tenant?.close();
  await stack?.stop();
  await models?.stop();
});

/** Every turn waits for its model until the returned function is called. */
function holdModel(): () => void {
  const { promise, resolve } = Promise.withResolvers<void>();
  models.play(async () => {
    await promise;
    return { text: 'At last' };
  });
  return resolve;
}

async function read(service: ServiceName, metric: string): Promise<number> {
  const text = await (await fetch(`${stack.services[service]!.internalUrl}/metrics`)).text();
  const line = text.split('\n').find((one) => one.startsWith(`${metric}{`));
  return line === undefined ? NaN : Number(line.split(' ').at(-1));
}

it('the turns in flight of chat are the requests that wait for a model', async () => {
  expect(await read('chat', 'turns_in_flight')).toBe(0);
  const release = holdModel();
  const answers = Array.from({ length: 5 }, () =>
    client.post(`/v1/agents/${assistant.slug}/chat`, { message: 'Hello' }),
  );
  await until(async () => (await read('chat', 'turns_in_flight')) === 5);
  release();
  expect((await Promise.all(answers)).map(({ status }) => status)).toEqual(Array(5).fill(200));
  await until(async () => (await read('chat', 'turns_in_flight')) === 0);
}, 60_000);

it('a worker shows its turns in flight, and the lag of executions that it cannot begin', async () => {
  const count = 60;
  const release = holdModel();
  const begun = await Promise.all(
    Array.from({ length: count }, () =>
      client.post('/v1/executions', { agentSlug: assistant.slug, message: 'Hello' }),
    ),
  );
  expect(new Set(begun.map(({ status }) => status))).toEqual(new Set([202]));
  await until(async () => (await read('worker', 'execution_lag_seconds')) > 2);
  const [running, waiting] = await Promise.all([
    read('worker', 'turns_in_flight'),
    read('worker', 'executions_waiting'),
  ]);
  expect(running).toBeGreaterThan(1);
  expect(running + waiting).toBe(count);
  release();
  await until(async () => (await read('worker', 'execution_lag_seconds')) === 0, {
    limitMs: 60_000,
  });
  await until(async () => (await read('worker', 'turns_in_flight')) === 0, { limitMs: 60_000 });
}, 180_000);
