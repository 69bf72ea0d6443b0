import { ParleyClient } from '@parley/client';
import { assistant, catalog } from './catalog';
import { push } from './client';
import { shared } from './stack';
import { type Tenant, createTenant } from './tenant';

let tenant: Tenant;
beforeAll(async () => {
  tenant = await createTenant();
  await push(await tenant.client(), catalog);
});
afterAll(() => tenant.close());

test('an execution is started, awaited, read and cancelled by the key that started it', async () => {
  const { key } = await tenant.client({ permissions: ['chat'] });
  const { executions } = new ParleyClient({ apiKey: key, baseUrl: shared.url });
  const started = await executions.create({ agentSlug: assistant.slug, message: 'Hello' });
  const ended = await executions.get(started.executionId, { waitSeconds: 30 });
  expect(ended).toMatchObject({
    threadId: started.threadId,
    status: 'succeeded',
    reply: expect.stringMatching(/./),
  });
  expect((await executions.cancel(started.executionId)).status).toBe('succeeded');
  let streamed = '';
  for await (const { chunk } of executions.stream(started.executionId))
    if (chunk.type === 'text-delta') streamed += chunk.delta;
  expect(streamed).toBe(ended.reply);
  const next = { agentSlug: assistant.slug, message: 'Again', threadId: started.threadId };
  expect(await executions.create(next, { waitSeconds: 30 })).toMatchObject({ status: 'succeeded' });
});
