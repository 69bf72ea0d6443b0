import { assistant, catalog } from './catalog';
import { type Client, push } from './client';
import { type Tenant, createTenant } from './tenant';

let tenant: Tenant;
let client: Client;
let lampId: string;
beforeAll(async () => {
  tenant = await createTenant();
  client = await tenant.client();
  const limited = { ...assistant, slug: 'limited', tools: ['entity.get'] };
  const custom = {
    description: 'For tests.',
    parameters: { type: 'object', properties: { a: { type: 'number' } } },
  };
  const tools = [
    { ...custom, name: 'shop.broken', handlerCode: 'throw new Error("out of order")' },
    { ...custom, name: 'shop.double', handlerCode: 'return { twice: args.a * 2 }' },
  ];
  await push(client, { ...catalog, agents: [assistant, limited], tools });
  lampId = (await client.post('/v1/data/product', { data: { name: 'Lamp' } })).body.id;
});
afterAll(() => tenant.close());

describe('POST /v1/compile-prompt', () => {
  it('answers with the prompt, its compiled text and its context', async () => {
    const { status, body } = await client.post('/v1/compile-prompt', {
      slug: 'assistant',
      message: 'hi',
      channel: 'whatsapp',
      threadMetadata: { any: 1 },
    });
    expect(status).toBe(200);
    expect(body).toEqual({
      raw: assistant.systemPrompt,
      compiled: expect.stringContaining('Channel whatsapp, plan none.'),
      context: expect.any(Object),
    });
  });

  it.each(['api', 'whatsapp', 'widget', 'dashboard'])('accepts the channel %s', async (channel) => {
    expect(
      (await client.post('/v1/compile-prompt', { slug: 'assistant', channel })).body.compiled,
    ).toContain(channel);
  });

  it.each([
    [{}, 400, 'slug is required'],
    [{ slug: 'none' }, 404, 'Agent not found or no config for this environment'],
  ])('answers %j with %i', async (body, status, error) => {
    const answer = await client.post('/v1/compile-prompt', body);
    expect([answer.status, answer.body.error]).toEqual([status, error]);
  });

  it('refuses an unknown channel', async () => {
    expect(
      (await client.post('/v1/compile-prompt', { slug: 'assistant', channel: 'fax' })).status,
    ).toBe(400);
  });
});

describe('POST /v1/run-tool', () => {
  it('runs as the system actor without an agent', async () => {
    const { status, body } = await client.post('/v1/run-tool', {
      toolName: 'entity.query',
      args: { type: 'product' },
    });
    expect(status).toBe(200);
    expect(body).toMatchObject({
      tool: { name: 'entity.query', isBuiltin: true },
      agent: null,
      environment: 'development',
      durationMs: expect.any(Number),
      identity: { actorType: 'system' },
    });
    expect(JSON.stringify(body.result)).toContain(lampId);
  });

  it("runs an organization's own tool in the executor", async () => {
    const { status, body } = await client.post('/v1/run-tool', {
      toolName: 'shop.double',
      args: { a: 21 },
    });
    expect([status, body.error]).toEqual([200, undefined]);
    expect(body).toMatchObject({
      tool: { name: 'shop.double', isBuiltin: false },
      result: { twice: 42 },
    });
  });

  it('runs as an agent', async () => {
    const args = { type: 'product', id: lampId };
    const { status, body } = await client.post('/v1/run-tool', {
      agentSlug: 'limited',
      toolName: 'entity.get',
      args,
    });
    expect([status, body.error]).toEqual([200, undefined]);
    expect(body).toMatchObject({
      agent: { slug: 'limited', name: 'Assistant' },
      identity: { actorType: 'agent' },
    });
  });

  it.each([
    [{ toolName: 'entity.query', agentSlug: 'none' }, 404, 'not_found'],
    [{ toolName: 'no.such.tool' }, 400, 'tool_not_found'],
    [
      { toolName: 'entity.query', agentSlug: 'limited', args: { type: 'product' } },
      403,
      'permission_denied',
    ],
    [{ toolName: 'entity.get', args: { type: 'product', id: 'none' } }, 404, 'not_found'],
    [{ toolName: 'shop.broken', args: {} }, 500, 'execution_error'],
  ])('answers %j with %i', async (body, status, errorType) => {
    const answer = await client.post('/v1/run-tool', body);
    expect([answer.status, answer.body.errorType]).toEqual([status, errorType]);
    expect(answer.body).toMatchObject({
      error: expect.stringMatching(/.+/),
      durationMs: expect.any(Number),
    });
  });

  it('requires toolName', async () => {
    expect((await client.post('/v1/run-tool', {})).status).toBe(400);
  });
});
