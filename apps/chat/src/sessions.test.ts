import type { Environment, PersonRole } from '@parley/contracts';
import { type Db, createDb } from '@parley/db';
import { createApiKey } from '@parley/identity';
import {
  type SeededOrganization,
  openTestDatabase,
  seedOrganization,
  seedPerson,
} from '@parley/testing';
import { type ChatUnderTest, startChat } from './chat-under-test';

let db: Db;
let service: ChatUnderTest;
let url: string;
const orgs = {} as Record<Environment | 'other', SeededOrganization>;

beforeAll(async () => {
  db = await openTestDatabase(createDb);
  service = await startChat({ db });
  ({ url } = service);
  const definitions = {
    entityTypes: [{ slug: 'order', name: 'Order', schema: {} }],
    agents: [{ slug: 'helper', tools: ['entity.create'], model: 'offline/scripted' }],
  };
  orgs.development = await seedOrganization(db.pool, definitions);
  orgs.other = await seedOrganization(db.pool, { ...definitions, environment: 'production' });
});
afterAll(async () => {
  await service.close();
  await db.close();
});

const chat = { path: '/v1/agents/helper/chat', body: { message: 'Hello' } };
const runTool = {
  path: '/v1/run-tool',
  body: { agent: 'helper', toolName: 'entity.create', args: { type: 'order', data: {} } },
};

async function signedIn(role: PersonRole, of: SeededOrganization = orgs.development) {
  const { tenant, environment } = of.scope;
  const person = await seedPerson(db.pool, { tenant, role, environment });
  async function post(
    { path, body }: { path: string; body: object },
    more: Record<string, string | undefined> = {},
  ) {
    const headers = { 'Content-Type': 'application/json', ...person.headers, ...more };
    const sent = Object.entries(headers).filter(
      (entry): entry is [string, string] => entry[1] !== undefined,
    );
    const response = await fetch(url + path, {
      method: 'POST',
      headers: sent,
      body: JSON.stringify(body),
    });
    const answer = (await response.json()) as { code?: string; threadId?: string };
    return { status: response.status, code: answer.code, threadId: answer.threadId };
  }
  return { ...person, post };
}

test('a member talks to an agent in the organization and environment of the headers, and continues the thread', async () => {
  const { post } = await signedIn('member');
  const first = await post(chat);
  expect(first).toMatchObject({ status: 200, threadId: expect.any(String) });
  const again = { path: chat.path, body: { message: 'Again', threadId: first.threadId } };
  expect(await post(again)).toMatchObject({ status: 200, threadId: first.threadId });
  // The other environment has no such agent, another organization no such thread.
  expect((await post(chat, { 'Parley-Environment': 'production' })).status).toBe(500);
  const other = await signedIn('member', orgs.other);
  expect((await other.post(again)).status).toBe(404);
});

test('a key with chat continues threads of the API, and finds no thread of a channel; a person continues both', async () => {
  const { scope } = orgs.development;
  const { key } = await createApiKey(db, { ...scope, name: 'website', permissions: ['chat'] });
  const byKey = { Cookie: undefined, Authorization: `Bearer ${key}` };
  const { post } = await signedIn('member');
  const own = (await post(chat)).threadId;
  expect(
    await post({ path: chat.path, body: { message: 'Again', threadId: own } }, byKey),
  ).toMatchObject({
    status: 200,
    threadId: own,
  });
  await db.pool.query(
    `insert into threads (id, tenant, environment, external_id, channel, agent_slug, last_message_at, updated_at)
     values ('thread_of_contact', $1, $2::"Environment", 'whatsapp:56911112222', 'whatsapp', 'helper', now(), now())`,
    [scope.tenant, scope.environment],
  );
  const agentId = orgs.development.agentIds.helper!;
  for (const { path, more } of [
    { path: chat.path, more: {} },
    { path: '/v1/chat', more: { agentId } },
  ]) {
    const continued = { path, body: { ...more, message: 'And?', threadId: 'thread_of_contact' } };
    const unknown = { path, body: { ...more, message: 'And?', threadId: 'thread_unknown' } };
    expect(await post(continued, byKey)).toEqual({
      status: 404,
      code: 'thread_not_found',
      threadId: undefined,
    });
    expect(await post(continued, byKey)).toEqual(await post(unknown, byKey));
  }
  const { rowCount } = await db.pool.query(
    `select from executions where thread_id = 'thread_of_contact'`,
  );
  expect(rowCount).toBe(0);
  const byPerson = { path: chat.path, body: { message: 'And?', threadId: 'thread_of_contact' } };
  expect(await post(byPerson)).toMatchObject({ status: 200, threadId: 'thread_of_contact' });
});

test('the request needs a valid session, its headers, and a page of the same site', async () => {
  const { post, signOut } = await signedIn('member');
  const { organizationId } = orgs.other.scope;
  for (const [headers, status, code] of [
    [{ Cookie: undefined }, 401, 'missing_key'],
    [{ Cookie: `__Host-parley_session=${'a'.repeat(43)}` }, 401, 'no_session'],
    [{ 'Parley-Organization': undefined }, 400, 'missing_organization'],
    [{ 'Parley-Environment': 'staging' }, 400, 'missing_environment'],
    [{ 'Parley-Organization': organizationId }, 403, 'not_a_member'],
    [{ 'Sec-Fetch-Site': 'cross-site' }, 403, 'cross_site'],
    [{ 'Sec-Fetch-Site': undefined, Origin: 'https://evil.example' }, 403, 'cross_site'],
    [{ Authorization: 'Bearer sk_dev_unknown' }, 401, 'unknown_key'],
  ] as const)
    expect(await post(chat, headers)).toMatchObject({ status, code });
  const { rowCount } = await db.pool.query('select from executions where tenant = $1', [
    orgs.other.scope.tenant,
  ]);
  expect(rowCount).toBe(0);
  await signOut();
  expect(await post(chat)).toMatchObject({ status: 401, code: 'no_session' });
});

test('a member runs tools in development, and only an admin in production; MCP needs a key', async () => {
  const mcp = { path: '/v1/mcp', body: { jsonrpc: '2.0', id: 1, method: 'tools/list' } };
  for (const [role, of, status] of [
    ['member', orgs.development, 200],
    ['member', orgs.other, 403],
    ['admin', orgs.other, 200],
  ] as const) {
    const { post } = await signedIn(role, of);
    expect((await post(runTool)).status).toBe(status);
    expect(await post(mcp)).toMatchObject({ status: 403 });
  }
  const { rows } = await db.pool.query('select count(*)::int as count from entities');
  expect(rows).toEqual([{ count: 2 }]);
});
