import { assistant, catalog } from './catalog';
import { type Client, push } from './client';
import { type Tenant, createTenant } from './tenant';

let tenant: Tenant;
let client: Client;
let agentId: string;
beforeAll(async () => {
  tenant = await createTenant();
  client = await tenant.client();
  const router = {
    slug: 'desk',
    name: 'Desk',
    mode: 'rules',
    agents: ['assistant'],
    fallback: 'assistant',
  };
  const other = { ...assistant, slug: 'bare', tools: [], threadContextParams: undefined };
  await push(client, { ...catalog, agents: [assistant, other], routers: [router] });
  const [row] = await tenant.query('select id from agents where tenant = $1 and slug = $2', [
    tenant.scope.tenant,
    'assistant',
  ]);
  agentId = row!.id as string;
  await client.post('/v1/data/product', { data: { name: 'Lamp', price: 12 } });
});
afterAll(() => tenant.close());

const path = `/v1/agents/${assistant.slug}/chat`;

const reply = {
  threadId: expect.stringMatching(/.+/),
  message: expect.stringMatching(/.+/),
  usage: {
    inputTokens: expect.any(Number),
    outputTokens: expect.any(Number),
    totalTokens: expect.any(Number),
  },
};

describe('POST /v1/agents/:slug/chat', () => {
  it('answers one JSON document of the documented shape', async () => {
    const { status, headers, body } = await client.post(path, { message: 'Hello' });
    expect(status).toBe(200);
    expect(headers.get('content-type')).toMatch(/^application\/json/);
    expect(body).toMatchObject(reply);
    const { inputTokens, outputTokens, totalTokens } = body.usage;
    for (const count of [inputTokens, outputTokens, totalTokens])
      expect(Number.isInteger(count)).toBe(true);
    expect(totalTokens).toBe(inputTokens + outputTokens);
    expect(body.assistantMessageId).toEqual(expect.any(String));
    expect(body._executionMeta).toEqual({
      iterationCount: 1,
      model: 'offline/scripted',
      durationMs: expect.any(Number),
      toolCallSummary: [],
      errorCount: 0,
      permissionDenialCount: 0,
      finishReason: 'stop',
    });
    expect(body).not.toHaveProperty('_transferred');
    expect(body).not.toHaveProperty('routedToAgent');
  });

  it('answers from real rows through a tool', async () => {
    const { body } = await client.post(path, { message: '/tool entity.query {"type":"product"}' });
    expect(body.message).toContain('Lamp');
    expect(body._executionMeta).toMatchObject({
      iterationCount: 2,
      toolCallSummary: [
        { name: 'entity.query', status: 'success', durationMs: expect.any(Number) },
      ],
      errorCount: 0,
    });
  });

  it('reports a failed tool call to the model, and counts it', async () => {
    const { status, body } = await client.post(path, {
      message: '/tool entity.get {"type":"product","id":"none"}',
    });
    expect(status).toBe(200);
    expect(body._executionMeta.errorCount).toBe(1);
    expect(body._executionMeta.toolCallSummary[0]).toMatchObject({
      status: 'error',
      errorType: expect.any(String),
      errorMessage: expect.stringMatching(/.+/),
    });
  });

  it('refuses a tool that is not in the list of the agent', async () => {
    for (const message of ['/tool entity.delete {"id":"x"}', '/tool no.such.tool {}']) {
      const { status, body } = await client.post(path, { message });
      expect(status).toBe(200);
      expect(body._executionMeta.errorCount).toBe(1);
      expect(body._executionMeta.toolCallSummary[0].errorMessage).toMatch(/^Tool not available: /);
    }
  });

  it('stores the message and the reply', async () => {
    const { body } = await client.post(path, { message: 'Remember this' });
    const rows = await tenant.query(
      'select role::text, id from thread_messages where thread_id = $1 order by id',
      [body.threadId],
    );
    expect(rows.map(({ role }) => role)).toEqual(['user', 'assistant']);
    expect(rows[1]!.id).toBe(body.assistantMessageId);
  });

  it.each([{}, { message: '' }, { message: '   ' }, { message: null }, { message: 5 }])(
    'answers 400 to %j',
    async (body) => {
      const answer = await client.post(path, body);
      expect([answer.status, answer.body.error]).toEqual([400, 'message is required']);
    },
  );

  it('answers 500 for an unknown agent', async () => {
    const answer = await client.post('/v1/agents/none/chat', { message: 'hi' });
    expect([answer.status, answer.body.error]).toEqual([500, 'Agent not found']);
  });

  it('answers 500 for an agent without a configuration in the environment', async () => {
    const production = await tenant.client({ environment: 'production' });
    const answer = await production.post(path, { message: 'hi' });
    expect(answer.status).toBe(500);
    expect(answer.body.error).toBe('No active config found for agent "assistant" in production');
  });

  it('ignores an agentId', async () => {
    const message = '/tool entity.query {"type":"product"}';
    const { status, body } = await client.post('/v1/agents/bare/chat', { message, agentId });
    expect(status).toBe(200);
    expect(body.message).not.toContain('Lamp'); // the agent of the path has no tools
  });
});

describe('POST /v1/chat', () => {
  it('finds the agent by its identifier', async () => {
    const { status, body } = await client.post('/v1/chat', { agentId, message: 'Hello' });
    expect(status).toBe(200);
    expect(body).toMatchObject(reply);
  });

  it('finds the router by its slug', async () => {
    const { status, body } = await client.post('/v1/chat', {
      routerSlug: 'desk',
      message: 'Hello',
    });
    expect(status).toBe(200);
    expect(body).toMatchObject({
      ...reply,
      routedToAgent: agentId,
      routedToAgentSlug: 'assistant',
    });
  });

  it.each([
    [{ message: 'hi' }, 400, /agentId/],
    [{}, 400, /.+/],
    [{ agentId: 'x' }, 400, /message/],
    [{ routerSlug: 'x' }, 400, /message/],
    [{ agentId: 'unknown', message: 'hi' }, 500, /^Agent not found$/],
    [{ routerSlug: 'unknown', message: 'hi' }, 500, /^Router not found$/],
  ])('answers %j with %i', async (body, status, error) => {
    const answer = await client.post('/v1/chat', body);
    expect(answer.status).toBe(status);
    expect(answer.body.error).toMatch(error);
  });

  it('answers "agentId or routerSlug is required" when both are missing', async () => {
    expect((await client.post('/v1/chat', { message: 'hi' })).body.error).toBe(
      'agentId or routerSlug is required',
    );
  });
});

describe('POST /v1/routers/:slug/chat', () => {
  it('answers like chat and names the agent that it chose', async () => {
    const { status, body } = await client.post('/v1/routers/desk/chat', {
      message: 'Hello',
      phoneNumber: '+51 999',
    });
    expect(status).toBe(200);
    expect(body).toMatchObject({
      ...reply,
      routedToAgent: agentId,
      routedToAgentSlug: 'assistant',
    });
  });

  it('answers 400 without a message and 500 for an unknown router', async () => {
    expect((await client.post('/v1/routers/desk/chat', {})).status).toBe(400);
    const unknown = await client.post('/v1/routers/none/chat', { message: 'hi' });
    expect([unknown.status, unknown.body.error]).toEqual([500, 'Router not found']);
  });
});
