import { type Operation, operationsOf } from '@parley/contracts';
import { type Db, createDb } from '@parley/db';
import { pushResources } from '@parley/resources';
import { keyLimitOf } from '@parley/service';
import {
  type SeededOrganization,
  openTestDatabase,
  seedOrganization,
  seedPerson,
  until,
} from '@parley/testing';
import { builtInToolNames } from '@parley/tools';
import { type ChatUnderTest, startChat } from './chat-under-test';

let db: Db;
let chat: ChatUnderTest;
let org: SeededOrganization;

const create = { tool: 'entity.create', args: { type: 'note', data: { text: 'made' } } };

beforeAll(async () => {
  db = await openTestDatabase(createDb);
  chat = await startChat({
    db,
    keyLimit: keyLimitOf({ TRUSTED_PROXIES: [], UNKNOWN_KEYS_PER_ADDRESS: 1_000 }),
  });
  const systemPrompt = `Made {{entity.create({"type":"note","data":{"text":"prompt"}})}} and {{entity.query({"type":"note"})}}.`;
  org = await seedOrganization(db.pool, {
    entityTypes: [{ slug: 'note', name: 'Note', schema: {} }],
    agents: [
      { slug: 'helper', tools: ['entity.create', 'entity.query'], systemPrompt },
      { slug: 'silent', tools: [], systemPrompt: 'No tools.' },
    ],
  });
  const on = { entityType: 'note', action: 'updated' } as const;
  const pushed = await pushResources(db, org.scope, {
    source: { actor: { type: 'system', id: null, name: null } },
    mayGrantRights: true,
    knownTools: builtInToolNames,
    resources: { triggers: [{ slug: 'remind', name: 'Remind', on, actions: [create] }] },
  });
  expect(pushed).toMatchObject({ ok: true });
});
afterAll(async () => {
  await chat.close();
  await db.close();
});

type Headers = Record<string, string>;
const keyHeaders = (): Headers => ({ Authorization: `Bearer ${org.key}` });

async function post(
  path: string,
  body: object,
  headers: Headers,
): Promise<{ status: number; body: unknown }> {
  const all = { 'Content-Type': 'application/json', 'X-Forwarded-For': '203.0.113.9', ...headers };
  const answer = await fetch(chat.url + path, {
    method: 'POST',
    headers: all,
    body: JSON.stringify(body),
  });
  return { status: answer.status, body: await answer.json() };
}

const entriesOf = async (requestId: string) => {
  const sql = `select action, environment::text, actor_type as "actorType", actor_id as "actorId", actor_name as "actorName",
    address, target_type || ' ' || target_id as target, before, after
    from audit_log where tenant = $1 and request_id = $2`;
  return (await db.pool.query(sql, [org.scope.tenant, requestId])).rows;
};
const eventsOf = async (requestId: string) => {
  const sql = 'select type, actor from events where tenant = $1 and request_id = $2 order by id';
  return (await db.pool.query(sql, [org.scope.tenant, requestId])).rows;
};

interface Sample {
  body: object;
  action: string;
  target: string;
  after: object | null;
}

const noteArgs = { type: 'note', data: {} };
const mcpCall = { method: 'tools/call', params: { name: 'entity_create', arguments: noteArgs } };
/**
 * What an operation with an entry is called with. A new change without an entry does not
 * pass the first test.
 */
const samples: Record<string, Sample> = {
  runTool: {
    body: { toolName: 'entity.create', args: noteArgs },
    action: 'tool.run',
    target: 'tool entity.create',
    after: { agent: null },
  },
  fireTrigger: {
    body: { triggerSlug: 'remind', data: { phone: '+56 9 1234 5678' } },
    action: 'trigger.fired',
    target: 'trigger remind',
    after: { run: expect.stringMatching(/^run_/), entity: null },
  },
  compilePrompt: {
    body: { slug: 'helper' },
    action: 'prompt.compiled',
    target: 'agent helper',
    after: null,
  },
  mcp: {
    body: { jsonrpc: '2.0', id: 1, ...mcpCall },
    action: 'tool.run',
    target: 'tool entity.create',
    after: { agent: null },
  },
};

const operations: Operation[] = Object.values({ ...operationsOf.chat, ...operationsOf.utilities });
const audited = operations.filter(
  ({ method, readOnly, isAudited }) => method !== 'get' && !readOnly && isAudited !== false,
);

test('each change that people and keys can make here has an entry, or is recorded otherwise', () => {
  expect(audited.map(({ id }) => id).sort()).toEqual(Object.keys(samples).sort());
  const others = operations.filter((operation) => !audited.includes(operation)).map(({ id }) => id);
  // Turns are executions.
  expect(others.sort()).toEqual(['chat', 'chatWithAgent', 'chatWithRouter']);
});

describe.each(audited.map((operation) => [operation.id, operation] as const))(
  '%s',
  (id, operation) => {
    const { body, action, target, after } = samples[id]!;
    const entry = {
      action,
      environment: 'development',
      address: '203.0.113.9',
      target,
      before: null,
      after,
    };

    test('by a key leaves one entry', async () => {
      const requestId = `key-${id}`;
      expect(
        (await post(operation.path, body, { ...keyHeaders(), 'X-Request-Id': requestId })).status,
      ).toBe(200);
      const actor = {
        actorType: 'api_key',
        actorId: expect.stringMatching(/^key_/),
        actorName: expect.any(String),
      };
      expect(await entriesOf(requestId)).toEqual([{ ...entry, ...actor }]);
    });

    if (operation.people === undefined) return;
    test('by a person leaves one entry, and its events name the person', async () => {
      const requestId = `person-${id}`;
      const person = await seedPerson(db.pool, { tenant: org.scope.tenant, role: 'admin' });
      expect(
        (await post(operation.path, body, { ...person.headers, 'X-Request-Id': requestId })).status,
      ).toBe(200);
      const actor = {
        actorType: 'person',
        actorId: person.id,
        actorName: `${person.id}@example.com`,
      };
      expect(await entriesOf(requestId)).toEqual([{ ...entry, ...actor }]);
      const events = await eventsOf(requestId);
      expect(events.map(({ type }) => type)).toContain('entity.created');
      for (const { actor: of } of events)
        expect(of.by ?? of).toEqual({ type: 'person', id: person.id });
    });
  },
);

test('a fired trigger names its author in the run, and no argument is in the audit log', async () => {
  const person = await seedPerson(db.pool, { tenant: org.scope.tenant, role: 'admin' });
  const fired = await post('/v1/fire-trigger', samples.fireTrigger!.body, person.headers);
  const { runId } = (fired.body as { result: { runId: string } }).result;
  const { rows } = await db.pool.query('select author from trigger_runs where id = $1', [runId]);
  expect(rows).toEqual([{ author: { type: 'person', id: person.id } }]);
  const log = await db.pool.query('select * from audit_log where tenant = $1', [org.scope.tenant]);
  expect(JSON.stringify(log.rows)).not.toContain('1234 5678');
});

test('an agent that a person runs a tool as keeps its name in events, which name the person too', async () => {
  const person = await seedPerson(db.pool, { tenant: org.scope.tenant, role: 'admin' });
  const headers = { ...person.headers, 'X-Request-Id': 'as-agent' };
  await post(
    '/v1/run-tool',
    { agentSlug: 'helper', toolName: 'entity.create', args: noteArgs },
    headers,
  );
  expect(await eventsOf('as-agent')).toMatchObject([
    { actor: { type: 'agent', slug: 'helper', by: { type: 'person', id: person.id } } },
  ]);
  expect(await entriesOf('as-agent')).toMatchObject([
    { action: 'tool.run', after: { agent: 'helper' } },
  ]);
});

test('the entry of a tool is written before the tool runs, so that it is there when the process ends', async () => {
  const blocker = await db.pool.connect();
  await blocker.query('begin');
  await blocker.query('lock table entities in exclusive mode');
  const headers = { ...keyHeaders(), 'X-Request-Id': 'before' };
  const running = post('/v1/run-tool', samples.runTool!.body, headers);
  await until(async () => (await entriesOf('before')).length === 1);
  expect(await eventsOf('before')).toEqual([]);
  await blocker.query('rollback');
  blocker.release();
  expect((await running).status).toBe(200);
});

test('what did not run leaves no entry: a refused call, a prompt without tools, an unknown trigger', async () => {
  for (const [path, body] of [
    ['/v1/run-tool', { toolName: 'no.tool' }],
    ['/v1/run-tool', { toolName: 'entity.create', args: {} }],
    ['/v1/run-tool', { toolName: 'entity.delete', agentSlug: 'helper', args: { id: 'x' } }],
    ['/v1/compile-prompt', { slug: 'silent' }],
    ['/v1/fire-trigger', { triggerSlug: 'none' }],
    ['/v1/mcp', { jsonrpc: '2.0', id: 1, method: 'tools/list' }],
  ] as const)
    await post(path, body, { ...keyHeaders(), 'X-Request-Id': 'nothing-done' });
  expect(await entriesOf('nothing-done')).toEqual([]);
});
