import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { until } from '@parley/testing';
import { createClient } from './client';
import { shared } from './stack';
import { openCommandLine } from './command-line';

const { folder, parley: run, run: runUnchecked, close } = openCommandLine();
afterAll(close);

const parley = (args: string[], env: Record<string, string> = {}) => run(args, { env });

const org = `cli-${process.pid}`;
const create = (...args: string[]) =>
  parley([
    'keys',
    'create',
    '--org',
    org,
    '--env',
    'development',
    '--name',
    'e2e',
    '--permissions',
    ...args,
  ]);

it('creates an organization and a key, pushes, chats and revokes the key', async () => {
  await parley(['org', 'create', '--slug', org, '--name', 'From the terminal']);
  const key = await create('*,manage');
  expect(key).toMatch(/^sk_dev_[A-Za-z0-9_-]{43}$/);
  const reach = { PARLEY_URL: shared.url, PARLEY_API_KEY: key };

  mkdirSync(join(folder, 'shop', 'agents'), { recursive: true });
  mkdirSync(join(folder, 'shop', 'entity-types'));
  const agent = {
    slug: 'clerk',
    name: 'Clerk',
    systemPrompt: 'You help.',
    tools: ['entity.query'],
  };
  writeFileSync(join(folder, 'shop', 'agents', 'clerk.json'), JSON.stringify(agent));
  const type = { slug: 'tent', name: 'Tent', schema: { name: 'string' } };
  writeFileSync(join(folder, 'shop', 'entity-types', 'tent.json'), JSON.stringify(type));
  const pushed = JSON.parse(await parley(['push', 'shop', '--json'], reach));
  expect(pushed.results).toMatchObject({
    agents: { created: ['clerk'] },
    entityTypes: { created: ['tent'] },
  });

  const client = createClient(shared.url, key);
  expect((await client.post('/v1/data/tent', { data: { name: 'Dome' } })).status).toBe(201);
  const chat = JSON.parse(
    await parley(['chat', 'clerk', '/tool entity.query {"type":"tent"}', '--json'], reach),
  );
  expect(chat.message).toContain('Dome');

  await parley(['keys', 'revoke', key.slice(0, 13), '--org', org], reach);
  await until(async () => (await client.get('/v1/entity-types')).status === 401);
});

it('creates the demo organization once, and its agent answers from its data', async () => {
  const first = JSON.parse(await parley(['demo']));
  expect(first).toEqual({ organization: 'demo', key: expect.stringMatching(/^sk_dev_/) });
  expect(JSON.parse(await parley(['demo']))).toEqual({ organization: 'demo', key: null });
  const client = createClient(shared.url, first.key);
  const { data } = (await client.get('/v1/data/product')).body;
  expect(data.length).toBeGreaterThan(10);
  const message = '/tool entity.query {"type":"product","limit":3}';
  const answer = await client.post('/v1/agents/shop-assistant/chat', { message });
  expect(answer.status).toBe(200);
  expect(answer.body._executionMeta.toolCallSummary).toMatchObject([
    { name: 'entity.query', status: 'success' },
  ]);
});

it('ends with status 2 when options are missing', async () => {
  expect(await runUnchecked(['keys', 'create'])).toMatchObject({ code: 2 });
});
