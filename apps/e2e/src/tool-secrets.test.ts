import { type Server, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { assistant } from './catalog';
import { type Client, push } from './client';
import { type Tenant, createTenant } from './tenant';

let carrier: Server;
let tenant: Tenant;
let client: Client;
let received: (string | undefined)[];

const value = 'ck_live_9f2c';

beforeAll(async () => {
  carrier = createServer((request, response) => {
    received.push(request.headers.authorization);
    const isKnown = request.headers.authorization === `Bearer ${value}`;
    response.writeHead(isKnown ? 200 : 401, { 'content-type': 'application/json' });
    response.end(
      JSON.stringify(isKnown ? { rate: 7 } : { refused: request.headers.authorization }),
    );
  }).listen(0, '127.0.0.1');
  await new Promise((listening) => carrier.once('listening', listening));
  const host = `127.0.0.1:${(carrier.address() as AddressInfo).port}`;
  tenant = await createTenant();
  client = await tenant.client();
  const ask = (headers: string) => `
    const response = await fetch('http://${host}/rates', { headers: ${headers} });
    console.log('sent', context.secrets.CARRIER_KEY);
    if (!response.ok) throw new Error('refused: ' + await response.text());
    return { ...(await response.json()), key: context.secrets.CARRIER_KEY ?? null };`;
  const custom = { description: 'Rates.', parameters: { type: 'object' } };
  const withKey = "{ authorization: 'Bearer ' + context.secrets.CARRIER_KEY }";
  await push(client, {
    tools: [
      {
        ...custom,
        name: 'carrier.rate',
        secrets: ['CARRIER_KEY'],
        allowedHosts: ['127.0.0.1'],
        handlerCode: ask(withKey),
      },
      {
        ...custom,
        name: 'carrier.elsewhere',
        secrets: ['CARRIER_KEY'],
        allowedHosts: ['api.example'],
        handlerCode: ask(withKey),
      },
      { ...custom, name: 'carrier.plain', allowedHosts: ['127.0.0.1'], handlerCode: ask(withKey) },
    ],
    agents: [
      {
        ...assistant,
        slug: 'clerk',
        name: 'Clerk',
        tools: ['carrier.*'],
        model: 'offline/scripted',
      },
    ],
  });
});
beforeEach(() => (received = []));
afterAll(async () => {
  carrier.close();
  await tenant.close();
});

const run = (toolName: string) => client.post('/v1/run-tool', { toolName });
const set = (given: string) =>
  client.post('/v1/tool-secrets', { name: 'CARRIER_KEY', value: given });

it('fails with the command that sets it while it is missing', async () => {
  const { status, body } = await run('carrier.rate');
  expect([status, body.errorType]).toEqual([500, 'execution_error']);
  expect(body.error).toBe('carrier.rate needs a secret that is not set');
  expect(body.reason).toBe(
    'CARRIER_KEY is not set in development. Set it with: parley tool-secrets set CARRIER_KEY -',
  );
  expect(received).toEqual([]);
});

it('reaches the server that the tool calls, the value of the last set, and nothing else', async () => {
  await set('an-old-value');
  const refused = await run('carrier.rate');
  expect(refused.body.error).toBe('refused: {"refused":"Bearer [secret CARRIER_KEY]"} (line 4)');
  await set(value);
  const { body } = await run('carrier.rate');
  expect(body).toMatchObject({
    result: { rate: 7, key: '[secret CARRIER_KEY]' },
    logs: [{ message: 'sent [secret CARRIER_KEY]' }],
  });
  expect(received).toEqual(['Bearer an-old-value', `Bearer ${value}`]);
});

it('is not sent to a host that the tool does not allow, and not given to a tool that does not declare it', async () => {
  expect((await run('carrier.elsewhere')).body.error).toMatch(
    /^fetch failed: Host not in allowedHosts/,
  );
  expect(received).toEqual([]);
  expect((await run('carrier.plain')).body.error).toMatch(/"refused":"Bearer undefined"/);
});

it('is in no answer of chat, MCP and pull, and in no table as text', async () => {
  const chat = await client.post('/v1/agents/clerk/chat', { message: '/tool carrier.rate {}' });
  expect(chat.body.message).toContain('[secret CARRIER_KEY]');
  const mcp = await client.post('/v1/mcp', {
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/call',
    params: { name: 'carrier_rate', arguments: {} },
  });
  expect(mcp.body.result).toMatchObject({
    structuredContent: { rate: 7, key: '[secret CARRIER_KEY]' },
  });
  const pull = await client.post('/v1/sync/pull', {});
  const answers = JSON.stringify([
    chat.body,
    mcp.body,
    pull.body,
    (await client.get('/v1/tool-secrets')).body,
  ]);
  expect(answers).not.toContain(value);
  const tables = await tenant.query(
    `select tablename as name from pg_tables where schemaname = 'public'`,
  );
  for (const { name } of tables) {
    const [found] = await tenant.query(
      `select count(*)::int as n from "${String(name)}" t where t::text like any($1)`,
      // A bytea is shown as hex.
      [[`%${value}%`, `%${Buffer.from(value).toString('hex')}%`]],
    );
    expect([name, found!.n]).toEqual([name, 0]);
  }
});
