import type { JsonObject, Permission, TriggerDefinition } from '@parley/contracts';
import { type Db, createDb } from '@parley/db';
import type { Entities } from '@parley/entities';
import { pushResources } from '@parley/resources';
import { type SeededOrganization, openTestDatabase, seedOrganization } from '@parley/testing';
import { builtInToolNames } from '@parley/tools';
import { type ChatUnderTest, startChat } from '../chat-under-test';

let db: Db;
let entities: Entities;
let org: SeededOrganization;
let chat: ChatUnderTest;
let close: () => Promise<void>;

const note = (data: JsonObject): TriggerDefinition['actions'][number] => ({
  tool: 'entity.create',
  args: { type: 'note', data },
  as: 'note',
});
const trigger = (slug: string, rest: Partial<TriggerDefinition>): TriggerDefinition => ({
  slug,
  name: slug,
  on: { entityType: 'order', action: 'updated', condition: { 'data.never': true } },
  actions: [note({})],
  ...rest,
});

beforeAll(async () => {
  db = await openTestDatabase(createDb);
  chat = await startChat({ db });
  ({ entities } = chat.runtime);
  org = await seedOrganization(db.pool);
  const pushed = await pushResources(db, org.scope, {
    source: { actor: { type: 'system', id: null, name: null } },
    mayGrantRights: true,
    knownTools: builtInToolNames,
    resources: {
      entityTypes: ['order', 'note'].map((slug) => ({ slug, name: slug, schema: {} })),
      triggers: [
        trigger('steps', {
          enabled: false,
          schedule: { delay: '1h' },
          actions: [
            note({
              total: '{{trigger.data.total}}',
              who: '{{trigger.entityId | "unknown"}}',
              s: '{{trigger.status}}',
            }),
            {
              tool: 'entity.update',
              args: { id: '{{steps.note.id}}', data: { more: '{{trigger.data.more | "none"}}' } },
            },
          ],
        }),
        trigger('failing', {
          actions: [note({ a: 1 }), { tool: 'entity.get', args: { id: 'ent_none' } }],
        }),
        trigger('gap', { actions: [note({ a: '{{trigger.data.missing}}' })] }),
      ],
    },
  });
  if (!pushed.ok) throw new Error(JSON.stringify(pushed));
  close = async () => {
    await chat.close();
    await db.close();
  };
});
afterAll(() => close());

async function fire(body: object, key = org.key) {
  const response = await fetch(`${chat.url}/v1/fire-trigger`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
    body: JSON.stringify(body),
  });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

async function notes(): Promise<JsonObject[]> {
  const result = await entities.list(org.scope, { type: 'note', limit: 100 });
  if (!result.ok) throw new Error(result.reason);
  return (JSON.parse(result.page.json) as { data: { data: JsonObject }[] }).data.map(
    ({ data }) => data,
  );
}

test('runs the actions immediately, regardless of the condition, the delay and `enabled`, and stores the run', async () => {
  const { status, body } = await fire({ triggerSlug: 'steps', data: { total: 12.5, more: 'x' } });
  expect({ status, body }).toEqual({
    status: 200,
    body: {
      success: true,
      triggerSlug: 'steps',
      result: {
        runId: expect.stringMatching(/^run_/),
        steps: [
          { tool: 'entity.create', status: 'success', durationMs: expect.any(Number) },
          { tool: 'entity.update', status: 'success', durationMs: expect.any(Number) },
        ],
        durationMs: expect.any(Number),
      },
    },
  });
  expect(await notes()).toEqual([{ total: 12.5, who: 'unknown', s: null, more: 'x' }]);
  const { rows } = await db.pool.query(
    'select status::text, attempts, cause from trigger_runs where id = $1',
    [(body.result as { runId: string }).runId],
  );
  expect(rows).toEqual([
    { status: 'succeeded', attempts: 1, cause: expect.stringMatching(/^manual-run_/) },
  ]);
});

test('the entity is the context, and `data` overrides its fields', async () => {
  const made = await entities.create(org.scope, {
    type: 'order',
    data: { total: 3, more: 'own' },
    actor: { type: 'system' },
  });
  if (!made.ok) throw new Error(made.reason);
  const { id } = JSON.parse(made.entity.json) as { id: string };
  expect((await fire({ triggerSlug: 'steps', entityId: id, data: { total: 4 } })).status).toBe(200);
  expect((await notes())[0]).toEqual({ total: 4, who: id, s: 'active', more: 'own' });
});

test.each([
  [{ triggerSlug: 'none' }, 404, 'not_found', 'Trigger not found'],
  [{ triggerSlug: 'steps', entityId: 'ent_none' }, 404, 'not_found', 'Entity not found'],
  [
    { triggerSlug: 'failing' },
    500,
    'execution_error',
    'Step 2 (entity.get) failed: Entity not found',
  ],
  [
    { triggerSlug: 'gap' },
    500,
    'execution_error',
    'Step 1 (entity.create) failed: {{trigger.data.missing}} not found',
  ],
])('%j: %d %s', async (body, status, errorType, error) => {
  const answer = await fire(body);
  expect(answer).toMatchObject({
    status,
    body: { error, errorType, durationMs: expect.any(Number) },
  });
});

test.each([
  [{}, 'triggerSlug is required'],
  [{ triggerSlug: 5 }, 'triggerSlug is required'],
  [{ triggerSlug: 'steps', data: [] }, expect.any(String)],
])('%j is refused', async (body, error) => {
  expect(await fire(body)).toMatchObject({ status: 400, body: { error } });
});

test('requires a key with the permission sync', async () => {
  const permissions: Permission[] = ['chat', 'data'];
  const { key } = await seedOrganization(db.pool, { permissions });
  expect(await fire({ triggerSlug: 'steps' }, key)).toMatchObject({
    status: 403,
    body: { error: 'API key does not have sync permission' },
  });
});
