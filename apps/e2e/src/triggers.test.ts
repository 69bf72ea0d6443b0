import { until } from '@parley/testing';
import { type Client, push } from './client';
import { type Tenant, createTenant } from './tenant';

// Longer than the default, as runs wait for the worker.
jest.setTimeout(60_000);

let tenant: Tenant;
let client: Client;

const types = ['order', 'note'].map((slug) => ({ slug, name: slug, schema: {} }));
const note = (data: object, rest: object = {}) => ({
  tool: 'entity.create',
  args: { type: 'note', data },
  ...rest,
});

beforeAll(async () => {
  tenant = await createTenant();
  client = await tenant.client();
  const paid = { 'data.status': 'paid', 'previousData.status': { $ne: 'paid' } };
  await push(client, {
    entityTypes: types,
    tools: [
      {
        name: 'shop.total',
        description: 'For tests.',
        parameters: { type: 'object', properties: { total: { type: 'number' } } },
        handlerCode:
          'const seen = await parley.entity.query({ type: "order" }); return { twice: args.total * 2, orders: seen.data.length };',
      },
    ],
    triggers: [
      {
        slug: 'made',
        name: 'Made',
        on: { entityType: 'order', action: 'created' },
        actions: [
          { tool: 'shop.total', args: { total: '{{trigger.data.total}}' }, as: 'sum' },
          note({
            kind: 'made',
            total: '{{trigger.data.total}}',
            twice: '{{steps.sum.twice}}',
            orders: '{{steps.sum.orders}}',
          }),
        ],
      },
      {
        slug: 'paid',
        name: 'Paid',
        on: { entityType: 'order', action: 'updated', condition: paid },
        actions: [
          note({ kind: 'paid', text: 'Order {{trigger.entityId}}: {{trigger.data.total}}' }),
        ],
      },
      {
        slug: 'deleted',
        name: 'Deleted',
        on: { entityType: 'order', action: 'deleted' },
        actions: [note({ kind: 'deleted', was: '{{trigger.previousData.total}}' })],
      },
      {
        slug: 'by-hand',
        name: 'By hand',
        on: { schedule: '0 3 * * *' },
        actions: [
          note({ kind: 'hand', from: '{{trigger.data.from}}' }),
          { tool: 'entity.get', args: { id: '{{trigger.data.id}}' } },
        ],
      },
    ],
  });
});
afterAll(() => tenant.close());

async function notes(kind: string, count: number): Promise<object[]> {
  const { body } = await until(
    () => client.post('/v1/data/note/query', { filters: { 'data.kind': kind } }),
    {
      isThere: (answer) => answer.body.data.length >= count,
      limitMs: 40_000,
      everyMs: 100,
    },
  );
  return body.data.map(({ data }: { data: object }) => data);
}

test('creating, updating and deleting an entity runs its triggers, with conditions, templates and a custom tool', async () => {
  const { body: order } = await client.post('/v1/data/order', {
    data: { total: 12.5, status: 'open' },
  });
  expect(await notes('made', 1)).toEqual([{ kind: 'made', total: 12.5, twice: 25, orders: 1 }]);
  await client.patch(`/v1/data/order/${order.id}`, { data: { note: 'not yet' } });
  await client.patch(`/v1/data/order/${order.id}`, { data: { status: 'paid' } });
  await client.patch(`/v1/data/order/${order.id}`, { data: { note: 'again' } });
  await client.delete(`/v1/data/order/${order.id}`);
  expect(await notes('deleted', 1)).toEqual([{ kind: 'deleted', was: 12.5 }]);
  expect(await notes('paid', 1)).toEqual([{ kind: 'paid', text: `Order ${order.id}: 12.5` }]);
});

describe('POST /v1/fire-trigger', () => {
  it('runs the actions as the system and answers with the steps', async () => {
    const { body: target } = await client.post('/v1/data/note', { data: { kind: 'target' } });
    const { status, body } = await client.post('/v1/fire-trigger', {
      triggerSlug: 'by-hand',
      entityId: target.id,
      data: { from: 'me', id: target.id },
    });
    expect({ status, body }).toMatchObject({
      status: 200,
      body: {
        success: true,
        triggerSlug: 'by-hand',
        result: {
          steps: [
            { tool: 'entity.create', status: 'success', durationMs: expect.any(Number) },
            { tool: 'entity.get', status: 'success', durationMs: expect.any(Number) },
          ],
          durationMs: expect.any(Number),
        },
      },
    });
    expect(await notes('hand', 1)).toEqual([{ kind: 'hand', from: 'me' }]);
  });

  it.each([
    [{ triggerSlug: 'none' }, 404, 'not_found'],
    [{ triggerSlug: 'by-hand', entityId: 'ent_none' }, 404, 'not_found'],
    [{ triggerSlug: 'by-hand', data: { from: 'x', id: 'ent_none' } }, 500, 'execution_error'],
  ])('answers %j with %d %s', async (body, status, errorType) => {
    expect(await client.post('/v1/fire-trigger', body)).toMatchObject({
      status,
      body: { errorType },
    });
  });

  it('requires triggerSlug', async () => {
    expect((await client.post('/v1/fire-trigger', {})).status).toBe(400);
  });
});
