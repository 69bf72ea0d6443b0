import { randomBytes } from 'node:crypto';
import type { JsonObject, Scope } from '@parley/contracts';
import { type Db, createDb, createSecretBox } from '@parley/db';
import { type GuardedFetch, createGuardedFetch } from '@parley/outbound';
import {
  type KapsoServer,
  type ProviderServer,
  openTestDatabase,
  seedOrganization,
  startKapsoServer,
  startProviderServer,
} from '@parley/testing';
import { createAccounts } from '../accounts';
import { retryMessage } from '../whatsapp/retry-message';
import { queueReply } from '../whatsapp/queue-reply';
import { sendMessage } from '../whatsapp/send-message';
import { storeInbound } from '../whatsapp/store-inbound';
import { findDueBlobs, maxBlobBytes, readBlob } from './blobs';
import { fetchMedia } from './fetch-media';
import { readFileType } from './read-file-type';

const phoneNumberId = '109876543210987';
const connectionId = 'conn_media';
const jpeg = Buffer.concat([Buffer.from('ffd8ffe0', 'hex'), randomBytes(2_000)]);
const ogg = Buffer.concat([Buffer.from('OggS'), randomBytes(500)]);

let db: Db;
let kapso: KapsoServer;
let elsewhere: ProviderServer;
let guarded: GuardedFetch;
let scope: Scope;
const askedElsewhere: unknown[] = [];
beforeAll(async () => {
  db = await openTestDatabase(createDb);
  kapso = await startKapsoServer();
  elsewhere = await startProviderServer(({ headers }) => {
    askedElsewhere.push(headers['x-api-key']);
    return { status: 200, body: jpeg };
  });
  const hosts = [new URL(kapso.url).host, new URL(elsewhere.url).host];
  guarded = createGuardedFetch({ allowedPrivateHosts: hosts });
  ({ scope } = await seedOrganization(db.pool));
  await db.pool.query(
    `insert into channel_connections (id, tenant, environment, phone_number_id, status, updated_at)
     values ($1, $2, $3::"Environment", $4, 'connected', now())`,
    [connectionId, scope.tenant, scope.environment, phoneNumberId],
  );
});
afterAll(async () => {
  await guarded.close();
  await kapso.stop();
  await elsewhere.stop();
  await db.close();
});

const accounts = () =>
  createAccounts(db, createSecretBox(Buffer.alloc(32, 1).toString('base64')), {
    KAPSO_API_URL: kapso.url,
    KAPSO_API_KEY: kapso.apiKey,
    RESEND_API_URL: 'http://127.0.0.1:9',
  });

let count = 0;
const merge = async () => {};
async function receive(
  url: string,
  { contact = '14155550134', type = 'image', origin = 'cloud_api' } = {},
) {
  const messageId = `wamid.media-${(count += 1)}`;
  const item: JsonObject = {
    message: {
      id: messageId,
      type,
      from: contact,
      [type]: { mime_type: 'image/jpeg' },
      kapso: {
        direction: 'inbound',
        origin,
        media_url: url,
        media_data: { filename: '../photo\n.jpg' },
      },
    },
  };
  expect(await storeInbound(db, scope, connectionId, item, merge)).toMatchObject({ ok: true });
  // A repeated delivery.
  expect(await storeInbound(db, scope, connectionId, item, merge)).toMatchObject({ ok: true });
  const { rows } = await db.pool.query<{ id: string }>(
    'select id from messages where message_id = $1',
    [messageId],
  );
  return rows[0]!.id;
}
const fetchIt = (
  id: string,
  more: { timeoutMs?: number; fetchGuarded?: GuardedFetch['fetch'] } = {},
) =>
  fetchMedia(
    { db, accounts: accounts(), fetchGuarded: guarded.fetch, owner: 'test', ...more },
    { ...scope, id },
  );
const isDueNow = (id: string) =>
  db.pool.query('update blobs set lease_until = null where id = $1', [id]);

test('a picture is fetched once, with the key of the account, and its type is read from its bytes', async () => {
  const keys: unknown[] = [];
  kapso.media['a.jpg'] = ({ headers }) => {
    keys.push(headers['x-api-key']);
    return { status: 200, body: jpeg, headers: { 'Content-Type': 'text/html' } };
  };
  const id = await receive(`${kapso.url}/media/a.jpg`);
  expect((await findDueBlobs(db, 10)).map((due) => due.id)).toContain(id);
  expect(await Promise.all([fetchIt(id), fetchIt(id)])).toEqual(
    expect.arrayContaining(['ready', 'not_due']),
  );
  expect(await fetchIt(id)).toBe('not_due');
  expect(keys).toEqual([kapso.apiKey]);
  const blob = (await readBlob(db, scope, id))!;
  expect(blob).toMatchObject({ status: 'ready', contentType: 'image/jpeg', error: null });
  expect(blob.bytes!.equals(jpeg)).toBe(true);
  expect(await readBlob(db, { ...scope, environment: 'production' }, id)).toBeNull();
  expect(await readBlob(db, (await seedOrganization(db.pool)).scope, id)).toBeNull();
  await db.pool.query('delete from messages where id = $1', [id]);
  expect(await readBlob(db, scope, id)).toBeNull();
});

test('a page that is named like a picture is no picture', async () => {
  kapso.media['b.jpg'] = {
    status: 200,
    body: Buffer.from('<html><script>alert(1)</script>'),
    headers: { 'Content-Type': 'image/jpeg' },
  };
  const id = await receive(`${kapso.url}/media/b.jpg`);
  await fetchIt(id);
  expect(await readBlob(db, scope, id)).toMatchObject({
    status: 'ready',
    contentType: 'application/octet-stream',
  });
});

test.each([
  'http://169.254.169.254/latest/meta-data',
  'http://127.0.0.1:1/a.jpg',
  'http://[::ffff:10.0.0.1]/a.jpg',
  'file:///etc/passwd',
  'not an address',
])('%s is not fetched, and the reason is stored', async (url) => {
  const id = await receive(url);
  expect(await fetchIt(id)).toBe('failed');
  expect(await readBlob(db, scope, id)).toMatchObject({
    status: 'failed',
    bytes: null,
    error: expect.stringMatching(/./),
  });
  expect(await fetchIt(id)).toBe('not_due');
});

test('a redirect to a private address fails, and one to another server does not send the key there', async () => {
  kapso.media['c.jpg'] = { status: 302, headers: { Location: 'http://169.254.169.254/' } };
  const id = await receive(`${kapso.url}/media/c.jpg`);
  expect(await fetchIt(id)).toBe('failed');
  kapso.media['d.jpg'] = { status: 302, headers: { Location: `${elsewhere.url}/d.jpg` } };
  const moved = await receive(`${kapso.url}/media/d.jpg`);
  expect(await fetchIt(moved)).toBe('ready');
  expect(askedElsewhere).toEqual([undefined]);
});

test('the key is sent to no other path of the provider', async () => {
  const id = await receive(`${kapso.url}/platform/v1/customers`);
  expect(await fetchIt(id)).toBe('failed');
  expect(await readBlob(db, scope, id)).toMatchObject({ error: 'the server answers 401' });
});

test('a file above 25 MiB fails, and one of exactly 25 MiB is stored', async () => {
  kapso.media['e.jpg'] = { status: 200, body: Buffer.concat([jpeg, Buffer.alloc(maxBlobBytes)]) };
  kapso.media['f.jpg'] = {
    status: 200,
    body: Buffer.concat([jpeg, Buffer.alloc(maxBlobBytes - jpeg.length)]),
  };
  const [large, full] = [
    await receive(`${kapso.url}/media/e.jpg`),
    await receive(`${kapso.url}/media/f.jpg`),
  ];
  expect(await fetchIt(large)).toBe('failed');
  expect(await readBlob(db, scope, large)).toMatchObject({
    error: `The answer is larger than ${maxBlobBytes} bytes`,
  });
  expect(await fetchIt(full)).toBe('ready');
});

test('a slow or broken server is asked again later, and not forever', async () => {
  kapso.media['g.jpg'] = () => new Promise(() => {});
  const id = await receive(`${kapso.url}/media/g.jpg`);
  expect(await fetchIt(id, { timeoutMs: 50 })).toBe('later');
  expect(await fetchIt(id)).toBe('not_due');
  kapso.media['g.jpg'] = { status: 503 };
  for (let attempt = 2; attempt < 7; attempt += 1) {
    await isDueNow(id);
    expect(await fetchIt(id)).toBe('later');
  }
  await isDueNow(id);
  expect(await fetchIt(id)).toBe('failed');
  expect(await readBlob(db, scope, id)).toMatchObject({
    status: 'failed',
    error: 'the server answers 503',
  });
});

test('files of imported history are not fetched', async () => {
  const id = await receive(`${kapso.url}/media/a.jpg`, { origin: 'history_sync' });
  expect(await readBlob(db, scope, id)).toBeNull();
});

test.each([
  [jpeg, 'image/jpeg', 'image'],
  [ogg, 'audio/ogg', 'audio'],
  [Buffer.from('\x89PNG\r\n\x1a\nrest', 'latin1'), 'image/png', 'image'],
  [Buffer.from('RIFF1234WEBPVP8 ', 'latin1'), 'image/webp', 'document'],
  [Buffer.from('\0\0\0\x20ftypisom', 'latin1'), 'video/mp4', 'video'],
  [Buffer.from('\0\0\0\x20ftypM4A ', 'latin1'), 'audio/mp4', 'audio'],
  [Buffer.from('\0\0\0\x20ftyp3gp4', 'latin1'), 'video/3gpp', 'video'],
  [Buffer.from('%PDF-1.7', 'latin1'), 'application/pdf', 'document'],
  [Buffer.concat([Buffer.from('fffb9064', 'hex'), Buffer.alloc(100)]), 'audio/mpeg', 'audio'],
  [Buffer.concat([Buffer.from('fff15080', 'hex'), Buffer.alloc(100)]), 'audio/aac', 'audio'],
  [Buffer.from('<svg onload=alert(1)>'), 'application/octet-stream', 'document'],
  [Buffer.alloc(0), 'application/octet-stream', 'document'],
])('the type of a file is read from its bytes (%#)', (bytes, contentType, kind) => {
  expect(readFileType(bytes)).toEqual({ contentType, kind });
});

describe('replies of people', () => {
  const sendDeps = () => ({ db, accounts: accounts(), owner: 'sender', log: { warn: () => {} } });
  const threadOf = (contact: string) => ({
    id: `thread_${contact}`,
    externalId: `whatsapp:${contact}`,
  });
  const text = { kind: 'text', text: 'Hola ñ' } as const;
  afterEach(() => {
    expect(kapso.problems).toEqual([]);
    kapso.sent.length = 0;
    kapso.uploads.length = 0;
  });

  test('a text is queued once per key, and only within 24 hours', async () => {
    const thread = threadOf('14155550201');
    expect(await queueReply(db, scope, { thread, content: text, key: 'r1' })).toEqual({
      ok: false,
      reason: 'window_closed',
    });
    const template = { kind: 'template', name: 'reminder', language: 'es' } as const;
    const sent = await queueReply(db, scope, { thread, content: template, key: 'r2' });
    expect(sent).toMatchObject({ ok: true, text: '[template reminder]', isNew: true });
    await receive(`${kapso.url}/media/a.jpg`, { contact: '14155550201' });
    const first = await queueReply(db, scope, { thread, content: text, key: 'r3' });
    const again = await queueReply(db, scope, { thread, content: text, key: 'r3' });
    expect([first, again]).toMatchObject([
      { ok: true, isNew: true },
      { ok: true, isNew: false },
    ]);
    if (!sent.ok || !first.ok) throw new Error('not queued');
    for (const { id } of [sent, first])
      expect(await sendMessage(sendDeps(), scope, id)).toBe('sent');
    expect(kapso.sent.map(({ body }) => [body.type, body.to])).toEqual([
      ['template', '14155550201'],
      ['text', '14155550201'],
    ]);
    const api = { id: 'thread_api', externalId: 'order-1' };
    expect(await queueReply(db, scope, { thread: api, content: text, key: 'r4' })).toEqual({
      ok: false,
      reason: 'no_channel',
    });
  });

  test('a file is uploaded once and sent by its id, also when its first sending fails', async () => {
    const contact = '14155550202';
    await receive(`${kapso.url}/media/a.jpg`, { contact });
    const file = { kind: 'file', filename: 'a/b\n.jpg', bytes: jpeg, text: 'Mira' } as const;
    const queued = await queueReply(db, scope, {
      thread: threadOf(contact),
      content: file,
      key: 'f1',
    });
    if (!queued.ok) throw new Error(queued.reason);
    kapso.faults.push('broken');
    expect(await sendMessage(sendDeps(), scope, queued.id)).toBe('later');
    await db.pool.query('update messages set lease_until = null where id = $1', [queued.id]);
    kapso.faults.push('busy');
    expect(await sendMessage(sendDeps(), scope, queued.id)).toBe('later');
    await db.pool.query('update messages set lease_until = null where id = $1', [queued.id]);
    expect(await sendMessage(sendDeps(), scope, queued.id)).toBe('sent');
    expect(kapso.uploads).toMatchObject([{ contentType: 'image/jpeg', filename: 'a_b_.jpg' }]);
    expect(kapso.uploads[0]!.bytes.equals(jpeg)).toBe(true);
    expect(kapso.sent.map(({ body }) => body.image)).toEqual([
      { caption: 'Mira', id: kapso.uploads[0]!.id },
    ]);
  });

  test('a refused upload fails, and the message that replaces one in doubt has the file too', async () => {
    const contact = '14155550203';
    await receive(`${kapso.url}/media/a.jpg`, { contact });
    const file = { kind: 'file', filename: 'a.pdf', bytes: Buffer.from('%PDF-1.7 …') } as const;
    const queued = await queueReply(db, scope, {
      thread: threadOf(contact),
      content: file,
      key: 'f2',
    });
    if (!queued.ok) throw new Error(queued.reason);
    kapso.faults.push('refused');
    expect(await sendMessage(sendDeps(), scope, queued.id)).toBe('failed');
    await db.pool.query("update messages set status = 'unknown' where id = $1", [queued.id]);
    const retried = await retryMessage(db, scope, queued.id, { anyway: true });
    if (!retried.ok) throw new Error(retried.reason);
    expect(await sendMessage(sendDeps(), scope, retried.id)).toBe('sent');
    expect(kapso.sent[0]!.body.document).toEqual({ filename: 'a.pdf', id: kapso.uploads[0]!.id });
  });

  test('an empty or too large file is refused, and a large picture is a document', async () => {
    const contact = '14155550204';
    await receive(`${kapso.url}/media/a.jpg`, { contact });
    const queue = (bytes: Buffer, key: string) =>
      queueReply(db, scope, {
        thread: threadOf(contact),
        content: { kind: 'file', filename: 'x', bytes },
        key,
      });
    for (const bytes of [Buffer.alloc(0), Buffer.alloc(maxBlobBytes + 1)])
      expect(await queue(bytes, 'f3')).toMatchObject({ ok: false, reason: 'file_refused' });
    const large = await queue(Buffer.concat([jpeg, Buffer.alloc(5 * 1024 * 1024)]), 'f4');
    expect(large).toMatchObject({ ok: true, text: '[document]', contentType: 'image/jpeg' });
  });
});
