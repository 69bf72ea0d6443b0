import {
  databaseVariables,
  createMetrics,
  loadConfig,
  serviceVariables,
  silentLogger,
} from '@parley/service';
import { createDb } from '@parley/db';
import { openTestDatabase, seedOrganization } from '@parley/testing';
import { createRuntime } from './create-runtime';
import { runtimeVariables } from './runtime-variables';

test('an agent calls another one, which reads a stored entity; the calls are counted, and everything closes', async () => {
  const db = await openTestDatabase(createDb);
  const variables = {
    ...serviceVariables(4002),
    ...databaseVariables(15_000),
    ...runtimeVariables,
  };
  const given = { DATABASE_URL: db.url, SECRETS_KEY: Buffer.alloc(32).toString('base64') };
  const metrics = createMetrics('test');
  const config = loadConfig(variables, given);
  const runtime = createRuntime({ config, db, log: silentLogger(), metrics });
  const model = 'offline/scripted';
  const { scope } = await seedOrganization(db.pool, {
    entityTypes: [{ slug: 'product', name: 'Product', schema: { name: 'string' } }],
    agents: [
      { slug: 'front', model, tools: ['agent.chat'] },
      { slug: 'stock', model, tools: ['entity.query'] },
    ],
  });
  const actor = { type: 'system' as const, roles: ['system'] };
  await runtime.entities.create(scope, { type: 'product', data: { name: 'Lantern' }, actor });
  const question = { agentSlug: 'stock', message: '/tool entity.query {"type":"product"}' };
  const result = await runtime.agents.chat(scope, {
    agent: { slug: 'front' },
    message: `/tool agent.chat ${JSON.stringify(question)}`,
    channel: 'api',
  });
  expect(result).toMatchObject({
    ok: true,
    response: { message: expect.stringContaining('Lantern') },
  });

  const text = await metrics.registry.metrics();
  expect(text).toMatch(
    /model_call_duration_seconds_count\{.*model="offline\/scripted",outcome="ok".*\} 4/,
  );
  for (const tool of ['agent.chat', 'entity.query'])
    expect(text).toMatch(
      new RegExp(`tool_call_duration_seconds_count\\{.*tool="${tool}",outcome="ok".*\\} 1`),
    );
  expect(text).toContain('database_pool_connections{state="total"');

  for (const { close } of runtime.closing) await close();
  await db.close();
});
