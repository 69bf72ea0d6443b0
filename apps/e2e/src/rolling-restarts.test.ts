import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { type ServiceName, until } from '@parley/testing';
import { Agent, fetch } from 'undici';
import { assistant, catalog } from './catalog';
import { push } from './client';
import { orderPaid } from './deliveries';
import { type Replicas, startReplicas } from './replicas';
import { shared } from './stack';
import { type Tenant, createTenant } from './tenant';

const kinds: ServiceName[] = ['data', 'chat', 'webhook-ingest', 'tool-executor', 'manage', 'gateway', 'worker'];
/**
 * Restarts one after the other; PARLEY_E2E_RESTARTS=20 is the full run. By default (0) an upgrade is simulated: the first
 * processes of all services restart at the same time, then the second ones.
 */
const inTurn = Number(process.env.PARLEY_E2E_RESTARTS ?? 0);
const restarts = inTurn || 2 * kinds.length;
const callers = 6;
const pauseMs = 40;

/** A custom tool that creates an entity: it shows that the code ran once and that its call reached chat from the sandbox. */
const stamp = {
  name: 'shop.stamp',
  description: 'For tests.',
  parameters: { type: 'object', properties: { mark: { type: 'string' } } },
  handlerCode: `await parley.entity.create({ type: 'stamp', data: { mark: args.mark } }); return args.mark;`,
};
const auditor = {
  slug: 'audit-orders',
  name: 'Audit orders',
  on: { entityType: 'order', action: 'created' },
  actions: [{ tool: 'entity.create', args: { type: 'audit', data: { number: '{{trigger.data.number}}' } } }],
};

let replicas: Replicas;
let tenant: Tenant;
let key: string;

beforeAll(async () => {
  replicas = await startReplicas({
    // Longer than the gateway keeps an idle connection, as in the manifests.
    SHUTDOWN_DRAIN_MS: '4500',
    SHUTDOWN_TIMEOUT_MS: '30000',
    ...shared.webhookSecrets,
  });
  tenant = await createTenant(replicas);
  const client = await tenant.client({ permissions: ['*', 'manage'] });
  ({ key } = client);
  await push(client, {
    ...catalog,
    entityTypes: [
      ...catalog.entityTypes,
      { slug: 'audit', name: 'Audit', schema: { number: 'string' } },
      { slug: 'stamp', name: 'Stamp', schema: { mark: 'string' } },
    ],
    agents: [assistant, { ...assistant, slug: 'stamper', name: 'Stamper', tools: ['shop.stamp', 'entity.create'] }],
    tools: [stamp],
    triggers: [auditor],
  });
}, 120_000);
afterAll(async () => {
  await tenant?.close();
  await replicas?.stop();
}, 60_000);

it(
  'restarts under load lose no request and no job, and turns of one thread do not overlap on two replicas',
  async () => {
    // As an ingress does, close idle connections before the services do.
    const dispatcher = new Agent({ keepAliveTimeout: 3_000, keepAliveMaxTimeout: 3_000 });
    const send = async (path: string, method: string, headers: Record<string, string>, body?: string) => {
      const response = await fetch(replicas.url + path, { method, dispatcher, headers, body });
      const text = await response.text();
      if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
      return JSON.parse(text) as { threadId?: string; message?: string; result?: unknown };
    };
    const call = (method: string, path: string, body?: object) =>
      send(
        path,
        method,
        { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
        body && JSON.stringify(body),
      );
    const { threadId } = await call('POST', `/v1/agents/${assistant.slug}/chat`, { message: 'first' });

    const made = { orders: 0, stamps: 0, deliveries: 0 };
    const runTool = async (work: (mark: string) => Promise<unknown>) => {
      const mark = `m-${(made.stamps += 1)}`;
      const answer = JSON.stringify(await work(mark));
      if (!answer.includes(mark)) throw new Error(`the tool did not answer with ${mark}: ${answer}`);
    };
    const work = [
      () => call('GET', '/v1/data/order?limit=5'),
      () => call('POST', '/v1/data/order', { data: { number: `o-${(made.orders += 1)}` } }),
      () => call('POST', `/v1/agents/${assistant.slug}/chat`, { message: 'again', threadId }),
      () => runTool((mark) => call('POST', '/v1/run-tool', { toolName: stamp.name, args: { mark } })),
      () =>
        runTool((mark) =>
          call('POST', '/v1/agents/stamper/chat', { message: `/tool ${stamp.name} {"mark":"${mark}"}` }),
        ),
      () => {
        const delivery = orderPaid(tenant.organizationId, `paid-${(made.deliveries += 1)}`, 100);
        return send(
          delivery.path,
          'POST',
          { ...delivery.headers(), 'Content-Type': 'application/json' },
          delivery.body,
        );
      },
      () => call('GET', '/v1/executions?limit=5'),
      () => call('POST', '/v1/data/order/query', { filters: { 'data.number': 'o-1' } }),
    ];
    let isOver = false;
    let answered = 0;
    const failures: string[] = [];
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
    await everyProcessHasLoad();
    const startedAt = Date.now();
    const codes: (number | null)[] = [];
    try {
      for (let at = 0; at < inTurn; at += 1)
        codes.push(await replicas.restart(kinds[at % kinds.length]!, Math.floor(at / kinds.length) % 2));
      for (let replica = 0; inTurn === 0 && replica < 2; replica += 1)
        codes.push(...(await allOf(kinds.map((name) => replicas.restart(name, replica)))));
    } finally {
      isOver = true;
    }
    await Promise.all(loops);
    const seconds = (Date.now() - startedAt) / 1_000;
    await dispatcher.close();

    expect(failures).toEqual([]);
    expect(codes).toEqual(Array(restarts).fill(0));
    // Enough requests to show that there was load during all restarts.
    expect(answered).toBeGreaterThan(5 * restarts);
    await expectEachEffectOnce(made);
    await expectTurnsInOrder(threadId!);
    if (inTurn > 0) console.log(JSON.stringify({ restarts, answered, seconds, ...made, failed: failures.length }));
  },
  240_000 + inTurn * 30_000,
);

/** Waits until each of the fourteen processes has had requests or jobs. */
async function everyProcessHasLoad(): Promise<void> {
  const worked = /^(http_request|job)_duration_seconds_count\{.*(route="\/(v1|webhook|execute)|job="(?!sweep))/m;
  const idle = async () => {
    const all = replicas.stacks.flatMap(({ services }) => Object.values(services));
    const metrics = await Promise.all(
      all.map(async ({ internalUrl }) => (await fetch(`${internalUrl}/metrics`)).text()),
    );
    return all.filter((_, at) => !worked.test(metrics[at]!)).map(({ name }) => name);
  };
  await until(idle, { isThere: (names) => names.length === 0, limitMs: 30_000, everyMs: 100 });
}

/** Waits for all promises even if one rejects, so that every process that was started can be stopped. */
async function allOf<T>(work: Promise<T>[]): Promise<T[]> {
  await Promise.allSettled(work);
  return Promise.all(work);
}

/** Expects that each order is audited by a trigger, each tool call has its stamp and each payment is credited, exactly once. */
async function expectEachEffectOnce(made: { orders: number; stamps: number; deliveries: number }): Promise<void> {
  const read = async () => {
    const [row] = await tenant.query(
      `select (select count(*)::int from trigger_runs where tenant = $1 and status = 'succeeded') as runs,
              (select count(*)::int from entities where tenant = $1 and data ? 'number') as entities,
              (select count(*)::int from entities where tenant = $1 and data ? 'mark') as stamps,
              (select count(distinct data ->> 'mark')::int from entities where tenant = $1) as marks,
              (select coalesce(sum(amount_cents), 0)::int from credit_entries where tenant = $1) as cents`,
      [tenant.scope.tenant],
    );
    return row;
  };
  const { orders, stamps, deliveries } = made;
  const wanted = { runs: orders, entities: 2 * orders, stamps, marks: stamps, cents: 100 * deliveries };
  await until(read, { isThere: (row) => isDeepStrictEqual(row, wanted), limitMs: 60_000, everyMs: 100 });
}

/** Expects that turns were answered in the order of their arrival, each after the one before, on either replica. */
async function expectTurnsInOrder(threadId: string): Promise<void> {
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
