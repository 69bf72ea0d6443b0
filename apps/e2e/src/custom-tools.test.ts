import { assistant, catalog } from './catalog';
import { type Client, push } from './client';
import { type Tenant, createTenant } from './tenant';

let tenant: Tenant;
let client: Client;

const custom = {
  description: 'For tests.',
  parameters: { type: 'object', properties: { name: { type: 'string' } } },
};
const makes = `
  const made = await parley.entity.create({ type: 'product', data: { name: args.name } });
  return { id: made.id, agent: context.agentSlug ?? null };`;
const talks = `if (!args.name) {
    console.warn('no name');
    throw new Error('a name is required');
  }
  console.log('hello', args.name);`;

beforeAll(async () => {
  tenant = await createTenant();
  client = await tenant.client();
  const agent = (slug: string, rest: object) => ({ ...assistant, slug, name: slug, ...rest });
  await push(client, {
    ...catalog,
    tools: [
      { ...custom, name: 'shop.make', handlerCode: makes },
      { ...custom, name: 'shop.talk', handlerCode: talks },
      {
        ...custom,
        name: 'shop.code',
        parameters: { properties: { code: { pattern: '^(a+)+$' } } },
        handlerCode: 'return args.code',
      },
      { ...custom, name: 'shop.again', handlerCode: 'return parley.shop.again({})' },
      {
        ...custom,
        name: 'shop.motto',
        handlerCode: 'return "Ask " + args.name',
        templateOnly: true,
      },
    ],
    roles: [
      {
        slug: 'reader',
        name: 'Reader',
        policies: [
          { resource: 'shop.*', actions: ['execute'], effect: 'allow' },
          { resource: 'product', actions: ['read', 'list'], effect: 'allow' },
        ],
      },
    ],
    agents: [
      agent('maker', { tools: ['shop.make', 'entity.create'] }),
      agent('narrow', { tools: ['shop.make'] }),
      agent('reader', { tools: ['*'], roles: ['reader'] }),
      agent('speaker', {
        tools: ['shop.motto'],
        systemPrompt: 'Motto: {{shop.motto({"name": "{{threadContext.params.who | \\"us\\"}}"})}}.',
      }),
    ],
  });
});
afterAll(() => tenant.close());

const runAs = (agentSlug: string | undefined, toolName: string, args: object) =>
  client.post('/v1/run-tool', { ...(agentSlug !== undefined && { agentSlug }), toolName, args });

describe('code of a custom tool', () => {
  it('calls tools as its caller', async () => {
    for (const agentSlug of ['maker', undefined]) {
      const { status, body } = await runAs(agentSlug, 'shop.make', { name: 'Lamp' });
      expect({ status, error: body.error }).toEqual({ status: 200, error: undefined });
      expect(body.result).toEqual({ id: expect.any(String), agent: agentSlug ?? null });
      expect((await client.get(`/v1/data/product/${body.result.id}`)).body.data).toEqual({
        name: 'Lamp',
      });
    }
  });

  it('may call only tools in the list of its caller', async () => {
    const { status, body } = await runAs('narrow', 'shop.make', { name: 'Lamp' });
    expect([status, body.errorType]).toEqual([500, 'execution_error']);
    expect(body.error).toContain('Tool not available: entity.create');
  });

  it('may do only what the roles of its caller allow', async () => {
    const { status, body } = await runAs('reader', 'shop.make', { name: 'Lamp' });
    expect([status, body.errorType]).toEqual([500, 'execution_error']);
    expect(body.error).toContain(`Permission denied: cannot perform 'create' on 'product'`);
  });

  it('is stopped when it calls itself too often', async () => {
    const { status, body } = await runAs(undefined, 'shop.again', {});
    expect([status, body.errorType]).toEqual([500, 'execution_error']);
    expect(body.error).toMatch(/at most \d+ deep/);
  });

  it('reports its console output, and the line in which it failed', async () => {
    const fine = await runAs(undefined, 'shop.talk', { name: 'a' });
    expect([fine.status, fine.body.logs]).toEqual([200, [{ level: 'log', message: 'hello a' }]]);
    const failed = await runAs(undefined, 'shop.talk', {});
    expect([failed.status, failed.body.error]).toEqual([500, 'a name is required (line 3)']);
    expect(failed.body.logs).toEqual([{ level: 'warn', message: 'no name' }]);
  });

  it('does not run with invalid arguments', async () => {
    const { status, body } = await runAs('maker', 'shop.make', { name: 7 });
    expect([status, body.code, body.errorType]).toEqual([
      500,
      'invalid_arguments',
      'execution_error',
    ]);
    expect(body.error).toBe('Invalid arguments for shop.make: name must be string');
  });

  it('has arguments that may match a pattern, for a limited time', async () => {
    const check = async (code: string) => (await runAs(undefined, 'shop.code', { code })).body;
    expect((await check('aaa')).result).toBe('aaa');
    expect((await check('b')).error).toBe(
      'Invalid arguments for shop.code: code must match pattern "^(a+)+$"',
    );
    expect((await check(`${'a'.repeat(50)}!`)).error).toMatch(/: too complex to check/);
  });

  it('is refused in a push when it cannot be parsed', async () => {
    const tools = [{ ...custom, name: 'shop.broken', handlerCode: 'const a = 1;\nreturn {{ a' }];
    const { status, body } = await client.post('/v1/sync', { resources: { tools } });
    expect([status, body.code]).toEqual([400, 'invalid_definitions']);
    expect(body.details).toEqual([
      { path: 'tools.0.handlerCode', message: expect.stringContaining('(line 2') },
    ]);
  });
});

describe('a templateOnly tool', () => {
  it('is called by templates', async () => {
    const { body } = await client.post('/v1/compile-prompt', { slug: 'speaker' });
    expect(body.compiled).toBe('Motto: Ask us.');
  });

  it('is not called by agents', async () => {
    const { status, body } = await runAs('speaker', 'shop.motto', { name: 'me' });
    expect([status, body.errorType, body.error]).toEqual([
      403,
      'permission_denied',
      'Tool not available: shop.motto',
    ]);
  });
});
