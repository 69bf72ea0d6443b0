import { setTimeout as sleep } from 'node:timers/promises';
import { type ServiceName, type Stack, createTestDatabase, createTestRedis, startStack } from '@parley/testing';
import { Agent, fetch } from 'undici';
import { type Balancer, startBalancer } from './balancer';
import { assistant, catalog } from './catalog';
import { push } from './client';
import { shared } from './stack';
import { type Tenant, createTenant } from './tenant';

/** 20 in the full run: PARLEY_E2E_RESTARTS=20. The default restarts each kind of service once. */
const restarts = Number(process.env.PARLEY_E2E_RESTARTS ?? 4);
/** Longer than the gateway keeps an idle connection, as in the manifests. */
const drainMs = 4_500;
const callers = 6;
const pauseMs = 40;
const behindBalancer = ['data', 'chat', 'gateway'] as const;
const order: ServiceName[] = ['data', 'chat', 'gateway', 'worker'];

const balancers = {} as Record<(typeof behindBalancer)[number], Balancer>;
const stacks: Stack[] = [];
let database: Awaited<ReturnType<typeof createTestDatabase>>;
let tenant: Tenant;
let key: string;

/** Two replicas of each service, each kind behind one address. */
beforeAll(async () => {
  const [made, redis] = await Promise.all([createTestDatabase(), createTestRedis()]);
  database = made;
  for (const name of behindBalancer) balancers[name] = await startBalancer();
  const environment = {
    SECRETS_KEY: Buffer.alloc(32, 7).toString('base64'),
    DATA_URL: balancers.data.url,
    CHAT_URL: balancers.chat.url,
    RATE_LIMIT_PER_KEY: '1000000',
    RATE_LIMIT_PER_ORGANIZATION: '1000000',
    SHUTDOWN_DRAIN_MS: String(drainMs),
    SHUTDOWN_TIMEOUT_MS: '30000',
  };
  for (let replica = 0; replica < 2; replica += 1) {
    const { bundles } = shared;
    const stack = await startStack({
      databaseUrl: database.url,
      redisUrl: redis.url,
      bundles,
      services: ['data', 'chat', 'worker', 'gateway'],
      environment,
    });
    stacks.push(stack);
    for (const name of behindBalancer) balancers[name].add(stack.services[name]!.url);
  }
  const { url } = balancers.gateway;
  tenant = await createTenant({ url, databaseUrl: database.url });
  const client = await tenant.client();
  ({ key } = client);
  await push(client, {
    ...catalog,
    entityTypes: [...catalog.entityTypes, { slug: 'audit', name: 'Audit', schema: { number: 'string' } }],
    triggers: [
      {
        slug: 'audit-orders',
        name: 'Audit orders',
        on: { entityType: 'order', action: 'created' },
        actions: [{ tool: 'entity.create', args: { type: 'audit', data: { number: '{{trigger.data.number}}' } } }],
      },
    ],
  });
}, 120_000);
afterAll(async () => {
  await tenant?.close();
  await Promise.all(stacks.map((stack) => stack.stop()));
  await Promise.all(Object.values(balancers).map((balancer) => balancer.close()));
  await database?.drop();
}, 60_000);

/** As Kubernetes does it: no new connections, then SIGTERM; and connections again once the new process is ready. */
async function restart(name: ServiceName, stack: Stack): Promise<number | null> {
  const service = stack.services[name]!;
  const balancer = (balancers as Partial<Record<ServiceName, Balancer>>)[name];
  balancer?.remove(service.url);
  const code = await service.stop();
  await service.start();
  balancer?.add(service.url);
  return code;
}

it(
  'restarts under load lose no request and no job, and two replicas take turns on one thread',
  async () => {
    // An ingress gives up idle connections before the services do.
    const dispatcher = new Agent({ keepAliveTimeout: 3_000, keepAliveMaxTimeout: 3_000 });
    const call = async (method: string, path: string, body?: object) => {
      const response = await fetch(balancers.gateway.url + path, {
        method,
        dispatcher,
        headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
        body: body && JSON.stringify(body),
      });
      const text = await response.text();
      if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
      return JSON.parse(text) as { threadId?: string };
    };
    const { threadId } = await call('POST', `/v1/agents/${assistant.slug}/chat`, { message: 'first' });

    let isOver = false;
    let created = 0;
    let answered = 0;
    const failures: string[] = [];
    const work = [
      () => call('GET', '/v1/data/order?limit=5'),
      () => call('POST', '/v1/data/order', { data: { number: `o-${(created += 1)}` } }),
      () => call('POST', `/v1/agents/${assistant.slug}/chat`, { message: 'again', threadId }),
    ];
    const loops = Array.from({ length: callers }, async (_, caller) => {
      for (let at = caller; !isOver; at += 1) {
        await work[at % work.length]!().then(
          () => (answered += 1),
          (error: Error) =>
            failures.push(`${error.message} ${String((error.cause as Error | undefined)?.message ?? '')}`),
        );
        await sleep(pauseMs);
      }
    });
    const codes: (number | null)[] = [];
    for (let at = 0; at < restarts; at += 1) {
      codes.push(await restart(order[at % order.length]!, stacks[Math.floor(at / order.length) % 2]!));
    }
    isOver = true;
    await Promise.all(loops);
    await dispatcher.close();

    expect(failures).toEqual([]);
    expect(codes).toEqual(Array(restarts).fill(0));
    expect(answered).toBeGreaterThan(restarts * callers);
    await everyOrderIsAudited(created);
    await turnsDoNotOverlap(threadId!);
  },
  120_000 + restarts * 30_000,
);

/** Each order has led to one run of the automation and to one further entity, none left out and none made twice. */
async function everyOrderIsAudited(created: number): Promise<void> {
  const read = async () => {
    const [row] = await tenant.query(
      `select (select count(*)::int from trigger_runs where organization_id = $1 and status = 'succeeded') as runs,
              (select count(*)::int from entities where organization_id = $1 and data ? 'number') as entities`,
      [tenant.organizationId],
    );
    return row;
  };
  const wanted = { runs: created, entities: 2 * created };
  for (let at = 0; at < 600 && JSON.stringify(await read()) !== JSON.stringify(wanted); at += 1) await sleep(100);
  expect(await read()).toEqual(wanted);
}

/** Turns in the order of their arrival: each has one answer, given after that of the turn before, whichever replica had it. */
async function turnsDoNotOverlap(threadId: string): Promise<void> {
  const messages = await tenant.query(
    'select role::text, created_at from thread_messages where thread_id = $1 order by execution_id, position',
    [threadId],
  );
  expect(messages.length).toBeGreaterThan(4);
  const roles = messages.map(({ role }) => role);
  expect(roles).toEqual(roles.map((_, at) => (at % 2 === 0 ? 'user' : 'assistant')));
  const answeredAt = messages.filter(({ role }) => role === 'assistant').map((row) => Number(row.created_at));
  expect(answeredAt).toEqual([...answeredAt].sort((a, b) => a - b));
}
