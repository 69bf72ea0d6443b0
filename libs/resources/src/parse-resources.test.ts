import type { RawResourceSet, Scope } from '@parley/contracts';
import { type Db, createDb } from '@parley/db';
import { openTestDatabase, seedOrganization } from '@parley/testing';
import { pullResources } from './pull-resources';
import { pushResources } from './push-resources';

const source = { actor: { type: 'system', id: null, name: null } } as const;

let db: Db;
let scope: Scope;

beforeAll(async () => {
  db = await openTestDatabase(createDb);
  ({ scope } = await seedOrganization(db.pool));
});
afterAll(() => db.close());

const push = (resources: RawResourceSet, prune = false) =>
  pushResources(db, scope, {
    resources,
    prune,
    source,
    mayGrantRights: true,
    knownTools: ['entity.query'],
  });

test('problems of shape and of references are reported together, each with its path', async () => {
  const result = await push({
    agents: [
      { slug: 'a', name: 'A', systemPrompt: 'x', tools: ['entity.qurey'] },
      { slug: 'b', name: 'B', systemPromt: 'x' },
      { slug: 'c', name: 'C', systemPrompt: 'x', roles: ['missing'] },
    ],
    routers: [
      { slug: 'r', name: 'R', mode: 'classify', agents: ['a', 'b', 'missing'], fallback: 'a' },
    ],
    triggers: [
      'nonsense',
      {
        slug: 't',
        name: 'T',
        on: {
          entityType: 'payment',
          action: 'updated',
          condition: { 'data.total': { $gte: 1, $gtt: 2 } },
        },
        actions: [{ tool: 'entity.query', args: {} }],
      },
    ],
  });
  expect(result).toMatchObject({ ok: false, reason: 'invalid' });
  const paths =
    !result.ok && result.reason === 'invalid' ? result.problems.map(({ path }) => path) : [];
  // `b` has an invalid shape but counts as present, so the router that refers to `b` has one
  // problem, not two.
  expect(paths.sort()).toEqual([
    'agents.0.tools.0',
    'agents.1.systemPrompt',
    'agents.1.systemPromt',
    'agents.2.roles.0',
    'routers.0.agents.2',
    'triggers.0',
    'triggers.1.on.condition.data.total.$gtt',
  ]);
  expect((await pullResources(db, scope)).version).toBe(0);
});

test('the valid fields of a definition with an invalid shape are checked', async () => {
  const result = await push({
    agents: [{ slug: 'a', name: 7, systemPromt: 'x', tools: ['nope'], roles: ['missing'] }],
    routers: [{ slug: 'r', name: 'R', mode: 'odd', agents: [], fallback: 'missing' }],
    roles: [
      {
        slug: 'o',
        name: 'O',
        extra: 1,
        policies: [{ resource: 'ordr', actions: ['read'], effect: 'allow' }],
      },
    ],
    entityTypes: [{ slug: 'e', schema: { total: 'nmber' } }],
    triggers: [{ slug: 't', name: 'T', on: 'never', actions: [{ tool: 'nope', args: {} }] }],
  });
  const paths =
    !result.ok && result.reason === 'invalid' ? result.problems.map(({ path }) => path) : [];
  expect(paths.sort()).toEqual([
    'agents.0.name',
    'agents.0.roles.0',
    'agents.0.systemPrompt',
    'agents.0.systemPromt',
    'agents.0.tools.0',
    'entityTypes.0.name',
    'entityTypes.0.schema.total',
    'roles.0.extra',
    'roles.0.policies.0.resource',
    'routers.0.agents',
    'routers.0.fallback',
    'routers.0.mode',
    'triggers.0.actions.0.tool',
    'triggers.0.on',
  ]);
});

test.each([
  ['Hello\n{{unclosed', 'has an unclosed template in line 2: {{unclosed'],
  ['{{one {{contact.name}}!', 'has an unclosed template in line 1: {{one {{contact.name}}!'],
  [
    '{{f({"q":"{{entity.query({\\"type\\":\\"a\\",\\"filters\\":\\"{{a}}\\"})}}"})}}',
    'has a query whose filters are a template: name each field',
  ],
  [
    '{{entity.get({"id":"{{a}}"}',
    'has an unclosed template in line 1: {{entity.get({"id":"{{a}}"}',
  ],
])('a prompt with an unclosed template is refused: %j', async (systemPrompt, message) => {
  expect(await push({ agents: [{ slug: 'p', name: 'P', systemPrompt }] })).toEqual({
    ok: false,
    reason: 'invalid',
    problems: [{ path: 'agents.0.systemPrompt', message }],
  });
});

test('a prompt whose templates are all closed is accepted', async () => {
  const systemPrompt =
    '{"a":{"b":1}} {{contact.name | "x"}} {{entity.query({"type":"{{a}}"})}} {{ }} }}';
  expect(await push({ agents: [{ slug: 'closed', name: 'P', systemPrompt }] })).toMatchObject({
    ok: true,
  });
  await push({ agents: [] }, true);
});

test('prune does not treat a definition with an invalid shape as missing', async () => {
  const a = { slug: 'a', name: 'A', systemPrompt: 'x' };
  const r = { slug: 'r', name: 'R', mode: 'classify', agents: ['a'], fallback: 'a' };
  expect((await push({ agents: [a], routers: [r] })).ok).toBe(true);
  const result = await push({ agents: [{ ...a, name: 1 }] }, true);
  expect(result).toMatchObject({ reason: 'invalid', problems: [{ path: 'agents.0.name' }] });
});
