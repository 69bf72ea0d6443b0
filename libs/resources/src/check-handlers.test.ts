import { type Db, createDb } from '@parley/db';
import { type SeededOrganization, openTestDatabase, seedOrganization } from '@parley/testing';
import type { CheckHandler } from './check-handlers';
import { pushResources } from './push-resources';

const source = { actor: { type: 'system', id: null, name: null } } as const;

let db: Db;
let org: SeededOrganization;
let checked: string[];

beforeAll(async () => {
  db = await openTestDatabase(createDb);
});
afterAll(() => db.close());
beforeEach(async () => {
  checked = [];
  org = await seedOrganization(db.pool);
});

const tool = (name: string, handlerCode: string) => ({
  name,
  description: 'd',
  parameters: {},
  handlerCode,
});
const checkHandler: CheckHandler = async (code, organizationId) => {
  checked.push(code);
  expect(organizationId).toBe(org.scope.organizationId);
  if (code === 'away') return { ok: false, reason: 'unavailable' };
  return code.includes('{{')
    ? { ok: false, reason: 'invalid', message: 'Unexpected token (line 1)' }
    : { ok: true };
};
const push = (resources: object, more: object = {}) =>
  pushResources(db, org.scope, {
    resources,
    source,
    mayGrantRights: true,
    knownTools: ['entity.get'],
    checkHandler,
    ...more,
  });

describe('handlers of a push', () => {
  it('are parsed when they are new or changed', async () => {
    const tools = [tool('a', 'return 1'), tool('b', 'return 2')];
    expect(await push({ tools })).toMatchObject({ ok: true });
    expect(
      await push({ tools: [tools[0], tool('b', 'return 3')] }, { dryRun: true }),
    ).toMatchObject({ ok: true });
    expect(checked).toEqual(['return 1', 'return 2', 'return 3']);
  });

  it('that cannot be parsed are reported with all other problems, and nothing is stored', async () => {
    const agents = [{ slug: 'x', name: 'X', systemPrompt: '', tools: ['missing'] }];
    const pushed = await push({ tools: [tool('a', 'return 1'), tool('b', 'if {{')], agents });
    expect(pushed).toMatchObject({
      ok: false,
      reason: 'invalid',
      problems: [
        { path: 'agents.0.tools.0', message: 'unknown tool "missing"' },
        { path: 'tools.1.handlerCode', message: 'Unexpected token (line 1)' },
      ],
    });
    expect(
      (await db.pool.query('select from tools where tenant = $1', [org.scope.tenant])).rowCount,
    ).toBe(0);
  });

  it('are refused if they cannot be checked because the executor is unavailable', async () => {
    expect(await push({ tools: [tool('a', 'away')] })).toEqual({
      ok: false,
      reason: 'handlers_unchecked',
    });
    expect(await push({ tools: [tool('a', 'away')] }, { checkHandler: undefined })).toMatchObject({
      ok: true,
    });
    expect(await push({ tools: [tool('a', 'away')] })).toMatchObject({ ok: true });
  });

  it('that are not text are reported as a problem of shape and are not checked', async () => {
    const pushed = await push({ tools: [null, { name: 1 }, tool('', ''), tool('c', 'return 1')] });
    expect(pushed).toMatchObject({ ok: false, reason: 'invalid' });
    expect(checked).toEqual(['return 1']);
  });
});

describe('tools of MCP servers', () => {
  const agents = (...tools: string[]) => [{ slug: 'x', name: 'X', systemPrompt: '', tools }];
  const roles = (resource: string) => [
    { slug: 'r', name: 'R', policies: [{ resource, actions: ['execute'], effect: 'allow' }] },
  ];
  const configure = () =>
    db.pool.query(
      `insert into integrations (id, tenant, environment, provider, config, updated_at)
       values ('crm', $1, 'development', 'mcp.crm', '{"url":"https://crm.example.com/mcp"}', now())`,
      [org.scope.tenant],
    );

  it('may be used if the server is configured in the environment', async () => {
    const named = agents('mcp.crm.find', 'mcp.crm.*', 'mcp.*');
    const needsServer = expect.stringContaining('parley integrations set mcp.crm');
    expect(await push({ agents: named })).toMatchObject({
      problems: [
        { path: 'agents.0.tools.0', message: needsServer },
        { path: 'agents.0.tools.1', message: needsServer },
        { path: 'agents.0.tools.2', message: expect.stringContaining('MCP server') },
      ],
    });
    await configure();
    expect(await push({ agents: named, roles: roles('mcp.crm.find') })).toMatchObject({ ok: true });
    expect(await push({ roles: roles('mcp.crm.*') })).toMatchObject({ ok: true });
    expect(await push({ agents: agents('mcp.other.find') })).toMatchObject({ ok: false });
    expect(await push({ roles: roles('mcp.other.find') })).toMatchObject({ ok: false });
  });

  it('cannot have the name of a custom tool', async () => {
    await configure();
    expect(await push({ tools: [tool('mcp.crm.find', 'return 1')] })).toMatchObject({
      problems: [
        { path: 'tools.0.name', message: expect.stringContaining('may not begin with "mcp."') },
      ],
    });
  });
});
