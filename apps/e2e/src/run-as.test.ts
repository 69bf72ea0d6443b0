import { assistant, catalog } from './catalog';
import { type Client, push } from './client';
import { type Tenant, createTenant } from './tenant';

let tenant: Tenant;
let client: Client;

const custom = { description: 'For tests.', parameters: { type: 'object' } };
const create =
  'return parley.entity.create({ type: "note", data: { by: args.by ?? null, secret: "s", owner: "ana" } })';
const list = 'return (await parley.entity.query({ type: "note" })).data.map(({ data }) => data)';
const allow = (resource: string, ...actions: string[]) => ({ resource, actions, effect: 'allow' });
const roles = [
  // What callers have: they may call the tools, and nothing else.
  { slug: 'caller', name: 'Caller', policies: [allow('vault.*', 'execute')] },
  { slug: 'nothing', name: 'Nothing', policies: [] },
  {
    slug: 'clerk',
    name: 'Clerk',
    policies: [allow('note', 'list', 'read'), allow('vault.*', 'execute')],
    scopeRules: [{ entityType: 'note', field: 'owner', operator: 'eq', value: 'ana' }],
    fieldMasks: [{ entityType: 'note', fieldPath: 'secret', maskType: 'redact' }],
  },
];
const tools = [
  { ...custom, name: 'vault.plain', handlerCode: create },
  { ...custom, name: 'vault.system', handlerCode: create, runAs: 'system' },
  { ...custom, name: 'vault.clerkCreates', handlerCode: create, runAs: 'clerk' },
  { ...custom, name: 'vault.clerkLists', handlerCode: list, runAs: 'clerk' },
  { ...custom, name: 'vault.outer', handlerCode: 'return parley.vault.system({})', runAs: 'clerk' },
  {
    ...custom,
    name: 'vault.outerAgent',
    handlerCode: `return parley.agent.chat({ agentSlug: 'free', message: '/tool vault.system {}' })`,
    runAs: 'askers',
  },
  {
    ...custom,
    name: 'vault.narrow',
    handlerCode: 'return parley.vault.clerkCreates({})',
    runAs: 'system',
  },
  {
    ...custom,
    name: 'vault.who',
    handlerCode: 'return [context.actor.type, context.environment, context.organizationId]',
    runAs: 'system',
  },
];

beforeAll(async () => {
  tenant = await createTenant();
  client = await tenant.client();
  const agent = (slug: string, rest: object) => ({
    ...assistant,
    slug,
    name: slug,
    model: 'offline/scripted',
    ...rest,
  });
  await push(client, {
    ...catalog,
    entityTypes: [
      ...catalog.entityTypes,
      { slug: 'note', name: 'Note', schema: { by: 'string', owner: 'string' } },
    ],
    roles: [
      ...roles,
      {
        slug: 'askers',
        name: 'Askers',
        policies: [allow('agent.chat', 'execute'), allow('vault.*', 'execute')],
      },
    ],
    tools,
    agents: [
      agent('careful', { tools: ['vault.*'], roles: ['caller'] }),
      agent('free', { tools: ['vault.*'] }),
      agent('empty', { tools: [] }),
      agent('refused', { tools: ['vault.*'], roles: ['nothing'] }),
    ],
    triggers: [
      {
        slug: 'seen',
        name: 'Seen',
        on: { entityType: 'product', action: 'created' },
        actions: [{ tool: 'vault.clerkLists', args: {} }],
      },
    ],
  });
  await client.post('/v1/data/note', { data: { owner: 'bob', secret: 'b' } });
});
afterAll(() => tenant.close());

const runAs = (toolName: string, agentSlug?: string, by: Client = client) =>
  by.post('/v1/run-tool', { toolName, ...(agentSlug && { agentSlug }), args: {} });
const actorOf = async (entityId: string) => {
  const [event] = await tenant.query(
    `select actor from events where entity_id = $1 and type like '%created'`,
    [entityId],
  );
  return event!.actor;
};

it('lets a tool do what its caller may not, and the event names both', async () => {
  expect((await runAs('vault.plain', 'careful')).body.error).toContain(
    'Tool not available: entity.create',
  );
  const { body } = await runAs('vault.system', 'careful');
  expect(body.result).toMatchObject({ type: 'note' });
  expect(await actorOf(body.result.id)).toEqual({
    type: 'tool',
    name: 'vault.system',
    runAs: 'system',
    roles: [],
    calledBy: { type: 'agent', slug: 'careful', roles: ['caller'] },
  });
  expect((await runAs('vault.who', 'careful')).body.result).toEqual([
    'agent',
    'development',
    tenant.organizationId,
  ]);
});

it('requires the permission for the tool itself: in the tools of the agent and in the role of each caller', async () => {
  expect((await runAs('vault.system', 'empty')).body).toMatchObject({
    error: 'Tool not available: vault.system',
    reason: '"vault.system" is not in the tools of the agent "empty"',
  });
  expect((await runAs('vault.system', 'refused')).body).toMatchObject({
    errorType: 'permission_denied',
    reason: 'no policy of the role "nothing" allows it',
  });
  const [may, mayNot] = [
    await tenant.client({ role: 'caller' }),
    await tenant.client({ role: 'nothing' }),
  ];
  expect((await runAs('vault.system', undefined, may)).status).toBe(200);
  expect((await runAs('vault.system', 'careful', may)).status).toBe(200);
  for (const agentSlug of [undefined, 'careful'])
    expect((await runAs('vault.system', agentSlug, mayNot)).status).toBe(403);
});

it('acts within the policies, scope rules and masks of the role', async () => {
  for (const agentSlug of [undefined, 'careful']) {
    const denied = await runAs('vault.clerkCreates', agentSlug);
    expect(denied.body.error).toContain(
      `Permission denied: cannot perform 'create' on 'note' (vault.clerkCreates runs as the role "clerk", which does not allow it)`,
    );
    const { result } = (await runAs('vault.clerkLists', agentSlug)).body;
    expect(result.length).toBeGreaterThan(0);
    for (const data of result) expect(data).toMatchObject({ owner: 'ana', secret: '[redacted]' });
  }
});

it('does not do more inside of another tool than that one may, also through an agent', async () => {
  const nested = await runAs('vault.outer');
  expect(nested.body.error).toContain(
    'vault.system is called inside a tool that runs as the role "clerk", which does not allow it',
  );
  const narrowed = await runAs('vault.narrow');
  expect(narrowed.body.error).toContain(
    'vault.clerkCreates runs as the role "clerk", which does not allow it',
  );
  const through = await runAs('vault.outerAgent');
  expect(JSON.stringify(through.body)).toContain(
    "cannot perform 'create' on 'note' (the role of vault.system does not allow it)",
  );
});

it('holds in chat, through MCP and in triggers', async () => {
  const chat = await client.post('/v1/agents/careful/chat', {
    message: '/tool vault.system {"by":"chat"}',
  });
  expect(chat.body._executionMeta.errorCount).toBe(0);
  const call = (name: string) => ({
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/call',
    params: { name, arguments: {} },
  });
  const mcp = await client.post('/v1/mcp?agent=careful', call('vault_system'));
  expect(mcp.body.result).toMatchObject({ structuredContent: { type: 'note' } });
  expect((await client.post('/v1/mcp', call('vault_clerkCreates'))).body.result).toMatchObject({
    isError: true,
  });
  const fired = await client.post('/v1/fire-trigger', { triggerSlug: 'seen', data: {} });
  expect(fired.body).toMatchObject({ success: true });
});

it('is refused in a push while its role is unknown or has the name of the system, and keeps the role from being deleted', async () => {
  const problems = async (resources: object, more: object = {}) => {
    const { status, body } = await client.post('/v1/sync', { resources, ...more });
    return [status, body.details];
  };
  const tool = (as: string) => ({
    tools: [{ ...custom, name: 'vault.new', handlerCode: 'return 1', runAs: as }],
  });
  expect(await problems(tool('nowhere'))).toEqual([
    400,
    [{ path: 'tools.0.runAs', message: 'unknown role "nowhere"' }],
  ]);
  const system = { slug: 'system', name: 'S', policies: [] };
  expect(await problems({ ...tool('system'), roles: [system] })).toEqual([
    400,
    [
      {
        path: 'tools.0.runAs',
        message: '"system" means the system, but a role has this slug: rename the role',
      },
    ],
  ]);
  const [status, details] = await problems({ roles: roles.slice(0, 2) }, { prune: true });
  expect([status, JSON.stringify(details)]).toEqual([
    400,
    expect.stringContaining('it is used by tool \\"vault.clerkCreates\\" (runAs)'),
  ]);
});

it('fails clearly when its role was deleted, and does nothing', async () => {
  await tenant.query(`delete from roles where tenant = $1 and slug = 'clerk'`, [
    tenant.scope.tenant,
  ]);
  for (const agentSlug of [undefined, 'careful'])
    expect((await runAs('vault.clerkLists', agentSlug)).body).toMatchObject({
      errorType: 'execution_error',
      error: 'vault.clerkLists runs as a role that does not exist',
      reason: 'the role "clerk" does not exist. Push the role, or change runAs',
    });
  const caller = await tenant.client({ role: 'caller' });
  for (const agentSlug of [undefined, 'careful']) {
    const { error, reason } = (await runAs('vault.clerkLists', agentSlug, caller)).body;
    expect([error, reason]).toEqual([
      'vault.clerkLists runs as a role that does not exist',
      undefined,
    ]);
  }
});
