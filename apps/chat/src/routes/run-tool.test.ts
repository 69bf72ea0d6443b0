import { once } from 'node:events';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import { type Db, createDb } from '@parley/db';
import { pushResources } from '@parley/resources';
import { startRuntime } from '@parley/runtime/testing';
import { type SeededOrganization, openTestDatabase, seedOrganization } from '@parley/testing';
import { builtInToolNames } from '@parley/tools';
import { startChat } from '../chat-under-test';

let db: Db;
let org: SeededOrganization;
/**
 * A database that closes each connection, as when PostgreSQL stops after the request
 * was authenticated.
 */
let away: Db;
const closing: (() => unknown)[] = [];

beforeAll(async () => {
  db = await openTestDatabase(createDb);
  org = await seedOrganization(db.pool);
  const tool = {
    name: 'stock.count',
    description: 'Counts',
    parameters: {},
    handlerCode: 'return 1',
  };
  const pushed = await pushResources(db, org.scope, {
    source: { actor: { type: 'system', id: null, name: null } },
    mayGrantRights: true,
    knownTools: builtInToolNames,
    resources: { tools: [tool] },
  });
  expect(pushed).toMatchObject({ ok: true });
  const hangsUp = createTcpServer((socket) => socket.end()).listen(0, '127.0.0.1');
  await once(hangsUp, 'listening');
  away = createDb({
    databaseUrl: `postgresql://user@127.0.0.1:${(hangsUp.address() as AddressInfo).port}/none`,
  });
  closing.push(() => hangsUp.close());
});
afterAll(async () => {
  for (const close of closing.reverse()) await close();
  await away.close();
  await db.close();
});

/** The chat service whose tools use the given database and an executor that does not answer. */
async function serve(ofTools: Db) {
  const runtime = startRuntime(ofTools, {
    TOOL_EXECUTOR_URL: 'http://127.0.0.1:1',
    EXECUTOR_TOKEN: 'x',
  });
  const chat = await startChat({ db, runtime });
  closing.push(async () => {
    await chat.close();
    await runtime.close();
  });
  return async (toolName: string, args: object = {}) => {
    const answer = await fetch(`${chat.url}/v1/run-tool`, {
      method: 'POST',
      headers: { authorization: `Bearer ${org.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ toolName, args }),
    });
    return {
      status: answer.status,
      retryAfter: answer.headers.get('retry-after'),
      body: await answer.json(),
    };
  };
}

describe('run-tool is 503 with Retry-After while a service that the tool needs is unavailable', () => {
  it.each([
    ['PostgreSQL, before the tool is found', 'stock.count', {}],
    ['PostgreSQL, for a tool that reads', 'entity.query', { type: 'order' }],
    ['PostgreSQL, for a tool that writes', 'entity.create', { type: 'order', data: {} }],
  ])('%s', async (_what, tool, args) => {
    const run = await serve(away);
    expect(await run(tool, args)).toEqual({
      status: 503,
      retryAfter: '2',
      body: {
        error: 'The data store is not available now, try again later',
        code: 'unavailable',
        errorType: 'execution_error',
        requestId: expect.any(String),
        durationMs: expect.any(Number),
      },
    });
  });

  it('the tool executor', async () => {
    const run = await serve(db);
    expect(await run('stock.count')).toMatchObject({
      status: 503,
      retryAfter: '2',
      body: {
        error: 'The tool executor is not available',
        code: 'unavailable',
        errorType: 'execution_error',
      },
    });
  });
});
