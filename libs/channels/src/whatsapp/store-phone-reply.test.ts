import type { JsonObject, Scope } from '@parley/contracts';
import { type Db, createDb } from '@parley/db';
import { openTestDatabase, seedOrganization } from '@parley/testing';
import { applyMessageStatus } from './apply-message-status';
import { queueMessage } from './outbox';
import { retryMessage } from './retry-message';
import { type PhoneMessage, storePhoneReply } from './store-phone-reply';

let db: Db;
let scope: Scope;
const connectionId = 'conn_phone';
beforeAll(async () => {
  db = await openTestDatabase(createDb);
  ({ scope } = await seedOrganization(db.pool));
  await db.pool.query(
    `insert into channel_connections (id, tenant, environment, phone_number_id, status, updated_at)
     values ($1, $2, $3::"Environment", 'phone-1', 'connected', now())`,
    [connectionId, scope.tenant, scope.environment],
  );
});
afterAll(() => db.close());

/** An item in Kapso's format, as the sample of its documentation. */
const item = ({
  id = 'wamid.p1',
  origin = 'business_app',
  status = 'sent',
  message = {} as JsonObject,
} = {}) => ({
  message: {
    id,
    timestamp: '1788264560',
    type: 'text',
    to: '14155550134',
    text: { body: 'Respondo yo' },
    kapso: { direction: 'outbound', status, origin },
    ...message,
  },
  conversation: { phone_number: '14155550134', business_scoped_user_id: 'US.13490000000000000001' },
});

const added: PhoneMessage[] = [];
const addToThread = async (_tx: unknown, _scope: unknown, message: PhoneMessage) =>
  void added.push(message);
const store = (given: JsonObject) =>
  storePhoneReply(db, scope, { connectionId, item: given }, async () => {}, addToThread);
const rowOf = async (messageId: string) =>
  (await db.pool.query('select * from messages where message_id = $1', [messageId])).rows[0];

test('a message typed on the phone is stored once, whichever deliveries arrive, together or out of order', async () => {
  const outcomes = await Promise.all([
    store(item({ status: 'read' })),
    store(item()),
    store(item()),
  ]);
  expect(outcomes).toEqual([true, true, true]);
  expect(await rowOf('wamid.p1')).toMatchObject({ contact: '14155550134', text: 'Respondo yo' });
  expect(added).toMatchObject([{ externalThreadId: 'whatsapp:14155550134', text: 'Respondo yo' }]);
  const apply = (status: string) =>
    applyMessageStatus(db, scope, {
      connectionId,
      eventType: `whatsapp.message.${status}`,
      item: item({ status }),
    });
  for (const status of ['read', 'delivered', 'sent'])
    expect(await apply(status)).toEqual({ ok: true, isKnown: true });
  expect(await rowOf('wamid.p1')).toMatchObject({
    origin: 'phone',
    status: 'read',
    direction: 'outbound',
  });
});

test('our own messages and imported ones are not a person’s', async () => {
  expect(await store(item({ id: 'wamid.p2', origin: 'cloud_api' }))).toBe(false);
  expect(await store(item({ id: 'wamid.p2', origin: 'history_sync' }))).toBe(false);
  expect(await store({ message: { id: 'wamid.p2' } })).toBe(false);
  expect(await rowOf('wamid.p2')).toBeUndefined();
});

test('a message of ours that waits for its id is not taken for one with the same text from the phone', async () => {
  const request = { to: '14155550134', type: 'text', text: { body: 'Respondo yo' } };
  const queued = {
    connectionId,
    contact: '14155550134',
    type: 'text',
    text: 'Respondo yo',
    request,
    key: 'p3',
  };
  const { id } = await queueMessage(db, scope, queued);
  await db.pool.query("update messages set status = 'unknown' where id = $1", [id]);
  const given = item({ id: 'wamid.p3' });
  const applied = await applyMessageStatus(db, scope, {
    connectionId,
    eventType: 'whatsapp.message.sent',
    item: given,
  });
  expect(applied).toEqual({ ok: true, isKnown: false });
  expect(await store(given)).toBe(true);
  expect((await db.pool.query('select message_id from messages where id = $1', [id])).rows).toEqual(
    [{ message_id: null }],
  );
});

test('a picture has its file, and a message of the phone is not retried here', async () => {
  const message = { type: 'image', image: {}, text: null };
  const given = item({ id: 'wamid.p4', message });
  const kapso = { ...given.message.kapso, media_url: 'https://media.example/a' };
  expect(await store({ ...given, message: { ...given.message, kapso } })).toBe(true);
  const { id, type } = await rowOf('wamid.p4');
  expect(type).toBe('image');
  expect((await db.pool.query('select status from blobs where id = $1', [id])).rows).toEqual([
    { status: 'pending' },
  ]);
  await db.pool.query("update messages set status = 'failed' where id = $1", [id]);
  expect(await retryMessage(db, scope, id, { anyway: true })).toEqual({
    ok: false,
    reason: 'from_phone',
  });
});
