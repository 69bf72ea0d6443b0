import type { IncomingMessage } from 'node:http';
import { createTestDatabase } from '@parley/testing';
import { type TestApi, createTestApi } from './testing/create-test-api';

let api: TestApi;
let tenant: number;
let key: string;
beforeAll(async () => {
  api = createTestApi(await createTestDatabase());
});
beforeEach(async () => {
  tenant = await api.organization();
  key = await api.key({ tenant, permissions: ['sync'] });
});
afterAll(() => api.close());

const kilobyte = 1_000;
const tool = (name: string, bytes: number) => ({
  name,
  description: 'A tool',
  parameters: { type: 'object' as const },
  handlerCode: `return "${'x'.repeat(bytes)}"`,
});

/** Tools that were stored before environments had a size. */
const insertTools = (count: number, bytes = 250_000) =>
  api.db.pool.query(
    `insert into tools (id, tenant, environment, name, definition, updated_at)
     select 'tool_' || $1::int || '_' || n, $1, 'development', 'old.tool' || n, json_build_object('name', 'old.tool' || n, 'description', 'd',
       'parameters', json_build_object('type', 'object'), 'handlerCode', repeat('x', $3::int)), now() from generate_series(1, $2::int) n`,
    [tenant, count, bytes],
  );

const pull = async () => (await api.call('post', '/v1/sync/pull', key, {}).expect(200)).body;

test('a push of more than a megabyte is accepted, and its pull can be pushed again unchanged', async () => {
  const tools = Array.from({ length: 20 }, (_, n) => tool(`big.tool${n}`, 200 * kilobyte));
  await api.call('post', '/v1/sync', key, { resources: { tools } }).expect(200);
  const pulled = await pull();
  expect(pulled.resources.tools).toHaveLength(20);
  const { body } = await api.call('post', '/v1/sync', key, pulled).expect(200);
  expect(body.results.tools).toMatchObject({
    created: [],
    updated: [],
    unchanged: expect.any(Array),
  });
  expect(body.results.tools.unchanged).toHaveLength(20);
  const { body: changed } = await api
    .call('post', '/v1/sync', key, { resources: { tools: [tool('big.tool3', 100 * kilobyte)] } })
    .expect(200);
  expect(changed.results.tools.updated).toEqual(['big.tool3']);
});

test('a push that would make the definitions larger than 16 MiB together is refused and names the largest', async () => {
  await insertTools(66);
  await api
    .call('post', '/v1/sync', key, { resources: { tools: [tool('new.small', 100)] } })
    .expect(200);
  const resources = {
    tools: [tool('new.tool', 250 * kilobyte), tool('new.other', 240 * kilobyte)],
  };
  const { body } = await api.call('post', '/v1/sync', key, { resources }).expect(413);
  expect(body).toMatchObject({
    code: 'definitions_too_large',
    error: expect.stringMatching(
      /^The definitions of development would have 16996996 bytes of JSON together, and may have 16760832\. The largest: tool "new\.tool" \(250101 bytes\), tool "old/,
    ),
  });
  await api.call('post', '/v1/sync', key, { resources, dryRun: true }).expect(413);
  expect((await pull()).resources.tools).toHaveLength(67);
  expect((await pull()).version).toBe(1);
});

test('definitions that were larger before stay: pushes that change nothing, or make them smaller, pass', async () => {
  await insertTools(80);
  const { resources } = await pull();
  const some = { tools: resources.tools.slice(0, 3) };
  const { body } = await api.call('post', '/v1/sync', key, { resources: some }).expect(200);
  expect(body.results.tools.unchanged).toHaveLength(3);
  await api
    .call('post', '/v1/sync', key, { resources: { tools: [tool('old.tool7', 1_000)] } })
    .expect(200);
  await api
    .call('post', '/v1/sync', key, { resources: { tools: [tool('new.tool', 1_000)] } })
    .expect(413);
  const few = { tools: resources.tools.slice(0, 2) };
  await api.call('post', '/v1/sync', key, { resources: few, prune: true }).expect(200);
  await api
    .call('post', '/v1/sync', key, { resources: { tools: [tool('new.tool', 1_000)] } })
    .expect(200);
});

test('pulls of an organization run one at a time, some wait, and further ones are refused', async () => {
  await insertTools(20);
  const other = await api.key({ tenant: await api.organization(), permissions: ['sync'] });
  const many = Array.from({ length: 30 }, () => api.call('post', '/v1/sync/pull', key, {}));
  const [mine, theirs] = await Promise.all([
    Promise.all(many),
    api.call('post', '/v1/sync/pull', other, {}),
  ]);
  const statuses = Map.groupBy(mine, ({ status }) => status);
  expect(statuses.get(200)!.length).toBeGreaterThanOrEqual(9);
  expect(statuses.get(200)!.length + statuses.get(429)!.length).toBe(30);
  expect(statuses.get(200)!.every(({ body }) => body.resources.tools.length === 20)).toBe(true);
  const [refused] = statuses.get(429)!;
  expect(refused!.body).toMatchObject({ code: 'too_many_syncs', retryAt: expect.any(Number) });
  expect(refused!.headers['retry-after']).toMatch(/^\d+$/);
  expect(theirs.status).toBe(200);
  await api.call('post', '/v1/sync/pull', key, {}).expect(200);
});

test('a pull whose client disconnects frees its place and its connection', async () => {
  await insertTools(60);
  for (let n = 0; n < 8; n += 1) {
    const disconnect = (response: object, done: (error: Error | null, body: unknown) => void) => {
      (response as IncomingMessage).destroy();
      done(null, null);
    };
    await api.call('post', '/v1/sync/pull', key, {}).buffer(true).parse(disconnect);
  }
  expect((await pull()).resources.tools).toHaveLength(60);
});

test('the state has the hashes of large definitions', async () => {
  await insertTools(30);
  const { body } = await api.call('post', '/v1/sync/state', key, {}).expect(200);
  expect(new Set(body.resources.tools.map(({ hash }: { hash: string }) => hash)).size).toBe(30);
});
