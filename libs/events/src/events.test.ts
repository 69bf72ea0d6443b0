import type { Scope } from '@parley/contracts';
import { type Db, createDb } from '@parley/db';
import { createTestDatabase } from '@parley/testing';
import { readEvents } from './read-events';
import { type NewEvent, recordEvent, recordEventOnce } from './record-event';
import { markRelayed, readPayloads, readWaitingEvents } from './waiting-events';

const scope: Scope = { organizationId: 'org_a', environment: 'development' };
const event: NewEvent = {
  type: 'payment.paid',
  entity: { type: 'payment', id: 'entity_1' },
  payload: { amount: 12 },
  actor: { type: 'webhook', provider: 'flow' },
};

let database: { url: string; drop(): Promise<void> };
let db: Db;
beforeAll(async () => {
  database = await createTestDatabase();
  db = createDb({ databaseUrl: database.url });
});
afterAll(async () => {
  await db.close();
  await database.drop();
});
beforeEach(() => db.pool.query('truncate events, triggers cascade'));

const addTrigger = (action: string) =>
  db.pool.query(
    `insert into triggers (id, organization_id, environment, slug, name, entity_type, action, definition, updated_at)
     values ($1, 'org_a', 'development', $1, $1, 'order', $1, '{}', now())`,
    [action],
  );

test('an event is stored as it was given, in its own environment alone', async () => {
  const id = await recordEvent(db, scope, { ...event, hops: 2, requestId: 'req-1' });
  await recordEvent(db, { ...scope, environment: 'production' }, event);
  await recordEvent(db, { ...scope, organizationId: 'org_b' }, event);
  expect(await readEvents(db, scope, {}, 10)).toEqual([
    {
      id,
      type: 'payment.paid',
      entityType: 'payment',
      entityId: 'entity_1',
      payload: { amount: 12 },
      actor: { type: 'webhook', provider: 'flow' },
      hops: 2,
      requestId: 'req-1',
      createdAt: expect.any(Number),
    },
  ]);
});

test('an event is part of the transaction that it is given', async () => {
  const failing = db.transaction(async (tx) => {
    await recordEvent(tx, scope, event);
    throw new Error('no');
  });
  await expect(failing).rejects.toThrow('no');
  expect(await readEvents(db, scope, {}, 10)).toEqual([]);
});

test('the same fact about an entity is recorded once, another fact and another entity are not held back', async () => {
  const mismatch = (problem: string, id = 'entity_1') =>
    recordEventOnce(
      db,
      scope,
      { ...event, type: 'payment.mismatch', entity: { type: 'payment', id }, payload: { problem, at: Math.random() } },
      'problem',
    );
  for (const problem of ['amount', 'amount', 'currency']) await mismatch(problem);
  await mismatch('amount', 'entity_2');
  const recorded = await readEvents(db, scope, {}, 10);
  expect(recorded.map(({ entityId, payload }) => [entityId, payload.problem])).toEqual([
    ['entity_2', 'amount'],
    ['entity_1', 'currency'],
    ['entity_1', 'amount'],
  ]);
});

test('every condition of a filter narrows, newest first', async () => {
  const ids: string[] = [];
  for (const type of ['order.made', 'orders.made', 'order.paid', 'note'])
    ids.push(await recordEvent(db, scope, { ...event, type, ...(type === 'note' && { entity: undefined }) }));
  const types = async (filter: Parameters<typeof readEvents>[2], limit = 10) =>
    (await readEvents(db, scope, filter, limit)).map(({ type }) => type);
  expect(await types({})).toEqual(['note', 'order.paid', 'orders.made', 'order.made']);
  expect(await types({}, 2)).toEqual(['note', 'order.paid']);
  expect(await types({ type: 'order.*' })).toEqual(['order.paid', 'order.made']);
  expect(await types({ type: 'order.paid' })).toEqual(['order.paid']);
  expect(await types({ type: 'order' })).toEqual([]);
  expect(await types({ entityId: 'entity_1', entityType: 'payment' })).toHaveLength(3);
  expect(await types({ entityType: 'order' })).toEqual([]);
  expect(await types({ visibleTypes: [] })).toEqual(['note']);
  expect(await types({ before: ids[2], after: ids[0] })).toEqual(['orders.made']);
  expect(await types({ since: Date.now() + 60_000 })).toEqual([]);
});

test('only changes that a trigger may follow wait for the relay, oldest first, until they are marked', async () => {
  await addTrigger('created');
  const change = (type: string, size = 1) =>
    recordEvent(db, scope, {
      ...event,
      type,
      entity: { type: 'order', id: 'entity_1' },
      payload: { data: 'x'.repeat(size) },
    });
  const first = await change('entity.created');
  await change('entity.deleted');
  const second = await change('entity.created');
  const waiting = await readWaitingEvents(db);
  expect(waiting).toEqual({
    hasMore: false,
    events: [expect.objectContaining({ id: first, type: 'entity.created' }), expect.objectContaining({ id: second })],
  });
  expect(await readPayloads(db, [second])).toEqual(new Map([[second, { data: 'x' }]]));
  await markRelayed(db, [first]);
  expect((await readWaitingEvents(db)).events.map(({ id }) => id)).toEqual([second]);
});
