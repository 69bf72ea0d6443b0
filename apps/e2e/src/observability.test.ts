import {
  type CollectedSpan,
  type CollectorServer,
  type KapsoServer,
  type ModelServer,
  type ServiceName,
  startCollectorServer,
  startKapsoServer,
  startModelServer,
  until,
} from '@parley/testing';
import { assistant, catalog } from './catalog';
import { type Client, createClient, push } from './client';
import { messageReceived, orderPaid, phoneNumberId } from './deliveries';
import { startOwnStack, shared } from './stack';
import { type Tenant, createTenant } from './tenant';

/**
 * A word in every text of a person, a model or a server here. It must not appear in logs,
 * metrics and traces.
 */
const secretWord = 'quokka';
const providerKey = 'sk-test-of-the-model-provider';
const secretsKey = Buffer.alloc(32, 9).toString('base64');

const stamp = {
  name: 'shop.stamp',
  description: 'For tests.',
  parameters: { type: 'object', properties: { mark: { type: 'string' } } },
  handlerCode: `console.log(args.mark);
    if (args.mark.includes('fail')) throw new Error(args.mark);
    await parley.entity.create({ type: 'product', data: { name: args.mark } }); return args.mark;`,
};
const announcer = {
  slug: 'announce',
  name: 'Announce',
  on: { entityType: 'product', action: 'created' },
  actions: [
    { tool: 'agent.chat', args: { agentSlug: 'clerk', message: 'New: {{trigger.data.name}}' } },
  ],
};
const agent = (slug: string, rest: object) => ({
  ...assistant,
  slug,
  name: slug,
  model: 'openai/gpt-5-mini',
  ...rest,
});

const names: ServiceName[] = [
  'gateway',
  'data',
  'chat',
  'webhook-ingest',
  'tool-executor',
  'worker',
];

let stack: Awaited<ReturnType<typeof startOwnStack>>;
let collector: CollectorServer;
let models: ModelServer;
let kapso: KapsoServer;
let tenant: Tenant;
let client: Client & { key: string };

beforeAll(async () => {
  [collector, models, kapso] = await Promise.all([
    startCollectorServer(),
    startModelServer(),
    startKapsoServer(),
  ]);
  models.play(({ messages }) => {
    const { role, text } = messages.at(-1)!;
    if (role === 'user' && text.startsWith('stamp'))
      return { toolCalls: [{ name: 'shop_stamp', args: { mark: `${secretWord} ${text}` } }] };
    if (text.startsWith('break')) return { status: 400, message: `no ${secretWord} here` };
    return { text: `A ${secretWord} for you` };
  });
  stack = await startOwnStack({
    environment: {
      LOG_LEVEL: 'trace',
      // The client of the model then prints each request and answer with `console`.
      OPENAI_LOG: 'debug',
      SECRETS_KEY: secretsKey,
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OPENAI_BASE_URL: models.urls.openai,
      OPENAI_API_KEY: providerKey,
      MODEL_PRICES: '{"openai/gpt-5-mini":{"input":1,"output":2}}',
      KAPSO_API_URL: kapso.url,
      KAPSO_API_KEY: kapso.apiKey,
      ...shared.webhookSecrets,
    },
  });
  tenant = await createTenant(stack);
  client = await tenant.client();
  await push(client, {
    ...catalog,
    tools: [stamp],
    triggers: [announcer],
    agents: [
      agent('clerk', { tools: [] }),
      agent('stamper', { tools: ['shop.stamp', 'entity.create'] }),
    ],
  });
  await tenant.query(
    `insert into channel_connections (id, tenant, environment, phone_number_id, status, agent_slug, updated_at)
     values ('conn', $1, 'development', $2, 'connected', 'clerk', now())`,
    [tenant.scope.tenant, phoneNumberId],
  );
}, 60_000);
afterAll(async () => {
  await tenant?.close();
  await stack?.stop();
  await Promise.all([models?.stop(), kapso?.stop(), collector?.stop()]);
});

const chat = (slug: string, message: string, headers?: Record<string, string>) =>
  client.post(`/v1/agents/${slug}/chat`, { message }, headers);

/** The span of a service with this name and parent, when it has arrived. */
const need = (service: string, name: string, parent?: CollectedSpan): Promise<CollectedSpan> =>
  until(() =>
    collector.spans.find(
      (span) =>
        span.service === service &&
        span.name === name &&
        span.parentSpanId === parent?.spanId &&
        span.traceId === (parent ?? span).traceId,
    ),
  );

it('a request has one trace through gateway, chat and executor, with its callbacks, jobs, statements and model calls', async () => {
  const client = { traceId: 'a'.repeat(32), spanId: 'b'.repeat(16) };
  const { status } = await chat('stamper', 'stamp it', {
    'X-Request-Id': 'traced-request-1',
    traceparent: `00-${client.traceId}-${client.spanId}-01`,
    tracestate: `vendor=${secretWord}`,
  });
  expect(status).toBe(200);

  const gateway = await need('gateway', 'POST /v1/agents');
  expect(gateway.links).toEqual([client]);
  const upstream = await need('gateway', 'POST', gateway);
  expect(upstream.attributes).toMatchObject({
    'server.service.name': 'chat',
    'http.response.status_code': 200,
  });
  const turn = await need('chat', 'POST /v1/agents/:slug/chat', upstream);
  expect(turn.links).toEqual([]);
  const model = await need('chat', 'chat gpt-5-mini', turn);
  expect(model.attributes).toMatchObject({
    'gen_ai.operation.name': 'chat',
    'gen_ai.provider.name': 'openai',
    'gen_ai.request.model': 'gpt-5-mini',
    'gen_ai.response.model': 'gpt-5-mini',
    'gen_ai.usage.input_tokens': expect.any(Number),
    'gen_ai.usage.output_tokens': expect.any(Number),
  });
  const tool = await need('chat', 'execute_tool shop.stamp', turn);
  const execution = await need('tool-executor', 'POST /execute', tool);
  const callback = await need('chat', 'POST /internal/tool-calls', execution);
  const create = await need('chat', 'execute_tool entity.create', callback);
  const job = await need('worker', 'process run-triggers', gateway);
  const asked = await need('worker', 'execute_tool agent.chat', job);
  await need('worker', 'chat gpt-5-mini', asked);
  for (const parent of [turn, create, job]) {
    const statements = collector.spans.filter(
      (span) =>
        span.parentSpanId === parent.spanId && span.attributes['db.system.name'] === 'postgresql',
    );
    expect(statements.length).toBeGreaterThan(0);
  }
}, 90_000);

it('an inbound message has one trace from the webhook endpoint to the model, with its jobs', async () => {
  const { path, body, headers } = messageReceived(
    'wamid.TRACED1',
    '14155550199',
    `A ${secretWord}, please`,
  );
  await createClient(stack.url).send('POST', path, body, headers());
  const gateway = await need('gateway', 'POST /webhook');
  const upstream = await need('gateway', 'POST', gateway);
  await need('webhook-ingest', `POST ${path}`, upstream);
  await need('worker', 'process receive-messages', gateway);
  const job = await need('worker', 'process answer-conversation', gateway);
  await need('worker', 'chat gpt-5-mini', job);
  // The phone number of the contact.
  expect(collector.requests.filter(({ bytes }) => bytes.includes('14155550199'))).toEqual([]);
}, 90_000);

it('every metric is reported and changes', async () => {
  const limited = await tenant.client({ permissions: ['data'] });
  await Promise.all(Array.from({ length: 70 }, () => limited.get('/v1/data/product?limit=1')));
  const delivery = orderPaid(tenant.organizationId, 'order-1', 100);
  await createClient(stack.url).send('POST', delivery.path, delivery.body, delivery.headers());
  const read = async (name: ServiceName) =>
    (await fetch(`${stack.services[name]!.internalUrl}/metrics`)).text();
  const expected: [ServiceName, metric: string, labels: string[]][] = [
    [
      'gateway',
      'http_request_duration_seconds_count',
      ['method="POST"', 'route="/v1/agents"', 'status="200"'],
    ],
    [
      'chat',
      'http_request_duration_seconds_count',
      ['method="POST"', 'route="/v1/agents/:slug/chat"', 'status="200"'],
    ],
    [
      'data',
      'http_request_duration_seconds_count',
      ['method="GET"', 'route="/v1/data/:type"', 'status="200"'],
    ],
    [
      'webhook-ingest',
      'http_request_duration_seconds_count',
      ['route="/webhook/polar"', 'status="200"'],
    ],
    ['tool-executor', 'http_request_duration_seconds_count', ['route="/execute"', 'status="200"']],
    ['tool-executor', 'executor_runs_total', ['outcome="result"']],
    ['chat', 'model_call_duration_seconds_count', ['model="openai/gpt-5-mini"', 'outcome="ok"']],
    ['chat', 'model_tokens_total', ['model="openai/gpt-5-mini"', 'direction="input"']],
    ['chat', 'model_tokens_total', ['model="openai/gpt-5-mini"', 'direction="output"']],
    ['chat', 'model_cost_usd_total', ['model="openai/gpt-5-mini"']],
    ['chat', 'tool_call_duration_seconds_count', ['tool="custom"', 'outcome="ok"']],
    ['worker', 'tool_call_duration_seconds_count', ['tool="agent.chat"', 'outcome="ok"']],
    ['data', 'rate_limit_decisions_total', ['decision="admitted"']],
    ['data', 'rate_limit_decisions_total', ['decision="refused"']],
    ['webhook-ingest', 'webhook_deliveries_total', ['provider="polar"', 'outcome="received"']],
    ['worker', 'job_duration_seconds_count', ['job="run-triggers"', 'status="done"']],
    ['worker', 'job_duration_seconds_count', ['job="apply-billing"', 'status="done"']],
    ...(['data', 'chat', 'webhook-ingest', 'worker'] as const).map(
      (name): [ServiceName, string, string[]] => [
        name,
        'database_pool_connections',
        ['state="total"'],
      ],
    ),
  ];
  const unchanged = async () => {
    const texts = Object.fromEntries(
      await Promise.all(names.map(async (name) => [name, await read(name)] as const)),
    );
    return expected.filter(([name, metric, labels]) => {
      const lines = texts[name]!.split('\n').filter((line) => line.startsWith(`${metric}{`));
      return !lines.some(
        (line) =>
          labels.every((label) => line.includes(label)) && Number(line.split(' ').at(-1)) > 0,
      );
    });
  };
  await until(async () => (await unchanged()).length === 0).catch(() => undefined);
  expect(await unchanged()).toEqual([]);
  // These are mostly 0 here; apps/worker register-work-metrics.test checks their values.
  const worker = await read('worker');
  for (const name of [
    'queue_jobs',
    'queue_oldest_job_age_seconds',
    'webhook_delivery_lag_seconds',
    'trigger_run_lag_seconds',
  ])
    expect(worker).toContain(`# TYPE ${name} gauge`);
  expect(await read('data')).toContain('# TYPE rate_limit_skipped_total counter');
  expect(await read('gateway')).toContain('# TYPE gateway_upstream_failures_total counter');
}, 90_000);

it('logs contain the ids of requests, organizations, threads and jobs, but no keys, tokens and texts', async () => {
  const requestId = 'logged-request-1';
  const named = { 'X-Request-Id': requestId };
  const first = await chat('clerk', `Where is my ${secretWord}?`, named);
  expect(first.body.message).toContain(secretWord);
  await chat('stamper', 'stamp and fail', named);
  expect((await chat('clerk', `break ${secretWord}`)).status).toBe(502);
  await client.post('/v1/run-tool', {
    toolName: 'shop.stamp',
    args: { mark: `${secretWord} fail` },
  });
  await client.post('/v1/run-tool', { toolName: 'shop.none', args: { mark: secretWord } });
  await client.post('/v1/compile-prompt', { slug: 'clerk', message: secretWord });
  await client.post('/v1/data/product', {
    data: { name: secretWord, price: 'not a number', note: secretWord },
  });
  await client.post('/v1/data/product', { data: { name: secretWord } });
  await client.post('/v1/data/product/search', { query: secretWord });
  await client.get(`/v1/data/product?cursor=${secretWord}`);
  await client.post('/v1/data/product/query', {
    filters: { [`data.${secretWord}`]: { $odd: secretWord } },
  });
  await client.send('POST', '/v1/data/product', `{"data":{"name":"${secretWord}"`);
  await client.send('POST', '/v1/data/product', `{"data":{"name":"${secretWord}\\u0000"}}`);
  await createClient(stack.url, `sk_dev_${secretWord}-is-no-key-0123456789`).get(
    '/v1/data/product',
  );
  await client.post(
    '/execute',
    { handlerCode: `throw new Error('${secretWord}')`, args: {} },
    {
      Authorization: `Bearer ${stack.executorToken}`,
    },
  );
  await client.post(
    '/execute',
    { handlerCode: secretWord, args: {} },
    { Authorization: `Bearer not-${secretWord}` },
  );
  const message = messageReceived('wamid.LOGGED1', '14155550123', `A ${secretWord}, please`);
  const order = orderPaid(tenant.organizationId, 'order-2', 100);
  for (const { path, body, headers } of [message, order]) {
    await createClient(stack.url).send('POST', path, body, headers());
    await createClient(stack.url).send('POST', path, body.replace('data', secretWord), headers());
  }
  const reply = await until(() => kapso.sent.find(({ body }) => body.to === '14155550123'));
  expect(JSON.stringify(reply)).toContain(secretWord);
  await until(async () => {
    const [row] = await tenant.query(
      `select count(*)::int as open from trigger_runs where status in ('scheduled', 'running')`,
    );
    return row!.open === 0;
  });

  const linesOf = (name: ServiceName) => stack.services[name]!.lines;
  // Log lines are written in order, so the lines of a last request show that all earlier
  // lines are complete.
  const last = { 'X-Request-Id': 'last-request-1' };
  await chat('stamper', 'stamp again', last);
  await client.get('/v1/data/product', last);
  const lastOrder = orderPaid(tenant.organizationId, 'order-3', 100);
  await createClient(stack.url).send('POST', lastOrder.path, lastOrder.body, {
    ...lastOrder.headers(),
    ...last,
  });
  await until(() =>
    names.every((name) => linesOf(name).some((line) => line.includes(last['X-Request-Id']))),
  );
  const forbidden = {
    secretWord,
    apiKey: client.key,
    executorToken: stack.executorToken,
    secretsKey,
    providerKey,
    kapsoKey: kapso.apiKey,
    ...shared.webhookSecrets,
  };
  for (const name of names) {
    expect(linesOf(name).length).toBeGreaterThan(2);
    for (const [what, text] of Object.entries(forbidden)) {
      expect({ name, what, lines: linesOf(name).filter((line) => line.includes(text)) }).toEqual({
        name,
        what,
        lines: [],
      });
    }
    const metrics = await (await fetch(`${stack.services[name]!.internalUrl}/metrics`)).text();
    expect(Object.values(forbidden).filter((text) => metrics.includes(text))).toEqual([]);
  }
  for (const text of Object.values(forbidden))
    expect(collector.requests.filter(({ bytes }) => bytes.includes(text))).toEqual([]);
  expect(collector.problems).toEqual([]);

  const fieldsOf = (name: ServiceName) =>
    linesOf(name)
      .filter((line) => line.startsWith('{'))
      .map((line) => JSON.parse(line) as Record<string, unknown>);
  for (const name of ['gateway', 'chat', 'tool-executor'] as const)
    expect(fieldsOf(name).some((line) => line.requestId === requestId)).toBe(true);
  const { organizationId } = tenant;
  expect(fieldsOf('chat')).toContainEqual(
    expect.objectContaining({ requestId, organizationId, threadId: first.body.threadId }),
  );
  expect(fieldsOf('worker')).toContainEqual(
    expect.objectContaining({
      requestId: expect.any(String),
      jobId: expect.any(String),
      organizationId,
      threadId: expect.stringMatching(/^thread_/),
    }),
  );
  expect(fieldsOf('data')).toContainEqual(expect.objectContaining({ organizationId }));
  expect(fieldsOf('worker')).toContainEqual(
    expect.objectContaining({
      job: 'run-triggers',
      jobId: expect.any(String),
      requestId: 'traced-request-1',
    }),
  );
}, 120_000);
