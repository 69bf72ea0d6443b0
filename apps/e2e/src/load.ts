import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { rounds, until } from '@parley/testing';
import { Agent, fetch } from 'undici';
import { assistant, catalog } from './catalog';
import { push } from './client';
import { orderPaid } from './deliveries';
import { type Replicas, startReplicas } from './replicas';
import { shared } from './stack';
import { type Tenant, createTenant } from './tenant';

const callers = rounds(3, 6);
const pauseMs = rounds(100, 40);

/**
 * A custom tool that creates an entity: it shows that the code ran once and that its call reached
 * chat from the sandbox.
 */
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
  actions: [
    { tool: 'entity.create', args: { type: 'audit', data: { number: '{{trigger.data.number}}' } } },
  ],
};

/** Two processes of each service, and an organization whose callers can keep all of them busy. */
export interface LoadedReplicas {
  replicas: Replicas;
  tenant: Tenant;
  startLoad(): Promise<Load>;
  close(): Promise<void>;
}

export interface Load {
  /** The thread of a conversation that takes place during the load. */
  threadId: string;
  /** Ends the load, and waits until all requests are answered. */
  stop(): Promise<{ answered: number; failures: string[]; made: Made }>;
}

/** Numbers of what the callers have made. */
export interface Made {
  orders: number;
  stamps: number;
  deliveries: number;
}

export async function startLoadedReplicas(): Promise<LoadedReplicas> {
  const replicas = await startReplicas({
    // Longer than the gateway keeps an idle connection, as in the manifests.
    SHUTDOWN_DRAIN_MS: '4500',
    SHUTDOWN_TIMEOUT_MS: '30000',
    ...shared.webhookSecrets,
  });
  const tenant = await createTenant(replicas);
  const client = await tenant.client({ permissions: ['*', 'manage'] });
  await push(client, {
    ...catalog,
    entityTypes: [
      ...catalog.entityTypes,
      { slug: 'audit', name: 'Audit', schema: { number: 'string' } },
      { slug: 'stamp', name: 'Stamp', schema: { mark: 'string' } },
    ],
    agents: [
      assistant,
      { ...assistant, slug: 'stamper', name: 'Stamper', tools: ['shop.stamp', 'entity.create'] },
    ],
    tools: [stamp],
    triggers: [auditor],
  });
  return {
    replicas,
    tenant,
    startLoad: () => startLoad({ replicas, tenant, key: client.key }),
    async close() {
      await tenant.close();
      await replicas.stop();
    },
  };
}

/** Starts callers of all services, and waits until each process has had requests or jobs. */
async function startLoad({
  replicas,
  tenant,
  key,
}: {
  replicas: Replicas;
  tenant: Tenant;
  key: string;
}): Promise<Load> {
  // As an ingress does, close idle connections before the services do.
  const dispatcher = new Agent({ keepAliveTimeout: 3_000, keepAliveMaxTimeout: 3_000 });
  const send = async (
    path: string,
    method: string,
    headers: Record<string, string>,
    body?: string,
  ) => {
    const response = await fetch(replicas.url + path, { method, dispatcher, headers, body });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    return JSON.parse(text) as { threadId?: string; message?: string; result?: unknown };
  };
  const json = { 'Content-Type': 'application/json' };
  const call = (method: string, path: string, body?: object) =>
    send(path, method, { Authorization: `Bearer ${key}`, ...json }, body && JSON.stringify(body));
  const { threadId } = await call('POST', `/v1/agents/${assistant.slug}/chat`, {
    message: 'first',
  });

  const made: Made = { orders: 0, stamps: 0, deliveries: 0 };
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
        call('POST', '/v1/agents/stamper/chat', {
          message: `/tool ${stamp.name} {"mark":"${mark}"}`,
        }),
      ),
    () => {
      const delivery = orderPaid(tenant.organizationId, `paid-${(made.deliveries += 1)}`, 100);
      return send(delivery.path, 'POST', { ...delivery.headers(), ...json }, delivery.body);
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
          failures.push(
            `${error.message} ${String((error.cause as Error | undefined)?.message ?? '')}`,
          ),
      );
      await sleep(pauseMs);
    }
  });
  const stop = async () => {
    isOver = true;
    await Promise.all(loops);
    await dispatcher.close();
    return { answered, failures, made };
  };
  await everyProcessHasLoad(replicas).catch(async (error: unknown) => {
    await stop();
    throw error;
  });
  return { threadId: threadId!, stop };
}

/** Waits until each of the fourteen processes has had requests or jobs. */
async function everyProcessHasLoad({ stacks }: Replicas): Promise<void> {
  const worked =
    /^(http_request|job)_duration_seconds_count\{.*(route="\/(v1|webhook|execute)|job="(?!sweep))/m;
  const idle = async () => {
    const all = stacks.flatMap(({ services }) => Object.values(services));
    const metrics = await Promise.all(
      all.map(async ({ internalUrl }) => (await fetch(`${internalUrl}/metrics`)).text()),
    );
    return all.filter((_, at) => !worked.test(metrics[at]!)).map(({ name }) => name);
  };
  await until(idle, { isThere: (names) => names.length === 0, limitMs: 30_000, everyMs: 100 });
}

/**
 * Expects that each order is audited by a trigger, each tool call has its stamp and each payment is
 * credited, exactly once.
 */
export async function expectEachEffectOnce(
  tenant: Tenant,
  { orders, stamps, deliveries }: Made,
): Promise<void> {
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
  const wanted = {
    runs: orders,
    entities: 2 * orders,
    stamps,
    marks: stamps,
    cents: 100 * deliveries,
  };
  await until(read, {
    isThere: (row) => isDeepStrictEqual(row, wanted),
    limitMs: 60_000,
    everyMs: 100,
  });
}

/**
 * Expects that turns were answered in the order of their arrival, each after the one before,
 * on either replica.
 */
export async function expectTurnsInOrder(tenant: Tenant, threadId: string): Promise<void> {
  const messages = await tenant.query(
    'select role::text, created_at from thread_messages where thread_id = $1 order by execution_id, position',
    [threadId],
  );
  expect(messages.length).toBeGreaterThan(4);
  const roles = messages.map(({ role }) => role);
  expect(roles).toEqual(roles.map((_, at) => (at % 2 === 0 ? 'user' : 'assistant')));
  const answeredAt = messages
    .filter(({ role }) => role === 'assistant')
    .map((row) => Number(row.created_at));
  expect(answeredAt).toEqual([...answeredAt].sort((a, b) => a - b));
}
