import { createEntities } from '@parley/entities';
import { type TestApi, type World, createTestApi } from './testing/create-test-api';
import { insertDefinitions } from './testing/samples/definitions';
import { message } from './testing/samples/messages';
import { thread } from './testing/samples/threads';

let api: TestApi;
let world: World;
beforeAll(async () => {
  api = await createTestApi();
});
beforeEach(async () => {
  world = await api.world();
});
afterAll(() => api.close());

const get = async (path: string, status = 200) =>
  (await world.call('get', path).expect(status)).body;
const post = async (path: string, body?: object, status = 200, headers = {}) =>
  (await world.call('post', path, { body, headers }).expect(status)).body;

test('a thread is found by its id and its external id, and taken over and resumed', async () => {
  const id = await thread(world);
  await api.db.pool.query(`update threads set external_id = 'order/7 ñ' where id = $1`, [id]);
  const external = encodeURIComponent('order/7 ñ');
  expect(await get(`/v1/threads/${external}`)).toMatchObject({
    id,
    externalId: 'order/7 ñ',
    state: 'agent',
    turnCount: 1,
  });
  expect(await post(`/v1/threads/${external}/takeover`)).toEqual({
    id,
    state: 'human',
    changed: true,
  });
  expect(await post(`/v1/threads/${id}/takeover`)).toEqual({ id, state: 'human', changed: false });
  expect((await get('/v1/threads?state=human')).data).toMatchObject([
    { id, lastInput: 'Where is it?' },
  ]);
  expect((await get('/v1/threads?state=agent')).data).toEqual([]);
  expect(await post(`/v1/threads/${id}/resume`)).toEqual({
    id,
    state: 'agent',
    changed: true,
    answering: false,
  });
  await get('/v1/threads/unknown', 404);
  await get('/v1/threads?state=closed', 400);
  await post(`/v1/threads/${id}/takeover`, { until: Date.now() - 1 }, 400);
});

test('the messages of a thread are paged, newest first, without results of tools', async () => {
  const id = await thread(world);
  await api.db.pool.query(
    `insert into thread_messages (id, tenant, thread_id, execution_id, position, role, content, tool_calls)
     select $1 || i, tenant, thread_id, execution_id, i, (array['assistant', 'tool', 'assistant'])[i]::"MessageRole", 'm' || i,
       case when i = 1 then '[{"id":"call_1","name":"a","args":{}}]'::jsonb end
     from thread_messages, generate_series(1, 3) i where thread_id = $1`,
    [id],
  );
  const seen: string[] = [];
  for (let cursor = '', more = true; more;) {
    const page = await get(`/v1/threads/${id}/messages?limit=2&cursor=${cursor}`);
    seen.push(...page.data.map(({ content }: { content: string }) => content));
    ({ cursor, hasMore: more } = page);
  }
  expect(seen).toEqual(['m3', 'm1', 'Where is it?']);
  expect((await get(`/v1/threads/${id}/messages`)).data[1].toolCallIds).toEqual(['call_1']);
  const other = await thread(world);
  const { cursor } = await get(`/v1/threads/${id}/messages?limit=1`);
  await get(`/v1/threads/${other}/messages?cursor=${cursor}`, 400);
});

/** A thread of a WhatsApp contact whose last message has no answer. */
async function whatsappThread(of: World = world) {
  const { id: wamId, contact } = await message(of, { direction: 'inbound', status: 'stored' });
  const id = await thread(of);
  const external = `whatsapp:${contact}`;
  const { pool } = api.db;
  await pool.query(`update threads set external_id = $2, channel = 'whatsapp' where id = $1`, [
    id,
    external,
  ]);
  await pool.query(`update executions set request_id = $2, output = null where thread_id = $1`, [
    id,
    wamId,
  ]);
  return { id, wamId, contact };
}

test('a thread names its contact and the one entity that has the number of the contact', async () => {
  const { id, contact } = await whatsappThread();
  await insertDefinitions(world);
  const entities = createEntities({ db: api.db });
  const add = async (phone: string, scope = world.scope) => {
    const created = await entities.create(scope, {
      type: 'order',
      data: { phone },
      actor: { type: 'system' },
    });
    if (!created.ok) throw new Error(created.reason);
    await entities.settled();
    return created.entity.id;
  };
  const entityOf = async () => (await get(`/v1/threads/${id}`)).entity;
  const first = await add(`+${contact}`);
  expect(await entityOf()).toBeNull();
  await api.db.pool.query(
    `update channel_connections set contact_type = 'order' where tenant = $1`,
    [world.scope.tenant],
  );
  expect(await get(`/v1/threads/${id}`)).toMatchObject({
    contactId: contact,
    entity: { type: 'order', id: first },
  });
  const production = await api.sibling(world, 'production');
  await insertDefinitions(production);
  await add(contact, production.scope);
  await add('+15550000001');
  expect(await entityOf()).toEqual({ type: 'order', id: first });
  const closed = await world
    .call('patch', `/v1/threads/${id}`, { body: { status: 'closed' } })
    .expect(200);
  expect(closed.body.entity).toEqual({ type: 'order', id: first });
  await add(contact);
  expect(await entityOf()).toBeNull();
  await get(`/v1/contacts/${contact}`);
  const { contactId, entity } = await get(`/v1/threads/${await thread(world)}`);
  expect([contactId, entity]).toEqual([null, null]);
});

const outbox = async () =>
  (
    await api.db.pool.query(
      `select id, status, text, type, thread_id as "threadId" from messages
       where tenant = $1 and direction = 'outbound' order by id`,
      [world.scope.tenant],
    )
  ).rows;
const text = { text: 'Yes, two are left.' };

describe('a reply of a person', () => {
  test('is stored, queued once for its key, and takes the thread over', async () => {
    const { id, wamId } = await whatsappThread();
    const headers = { 'Idempotency-Key': 'reply-1' };
    const [first, second] = await Promise.all([
      post(`/v1/threads/${id}/messages`, text, 201, headers),
      post(`/v1/threads/${id}/messages`, text, 201, headers),
    ]);
    expect(second).toEqual(first);
    expect(await outbox()).toEqual([
      { id: first.channelMessageId, status: 'queued', text: text.text, type: 'text', threadId: id },
    ]);
    expect(await get(`/v1/threads/${id}`)).toMatchObject({
      state: 'human',
      takenOverBy: { type: 'api_key' },
      isUnread: false,
    });
    expect((await get(`/v1/threads/${id}/messages`)).data).toMatchObject([
      {
        id: first.id,
        role: 'assistant',
        author: { type: 'api_key' },
        content: text.text,
        delivery: { id: first.channelMessageId, status: 'queued' },
      },
      { role: 'user', author: null, channelMessageId: wamId, delivery: null },
    ]);
  });

  test('whose answer was lost in a crash is stored and sent once', async () => {
    const { id } = await whatsappThread();
    const headers = { 'Idempotency-Key': 'reply-1' };
    await post(`/v1/threads/${id}/messages`, text, 201, headers);
    await api.db.pool.query(
      `update idempotency_records set status = null, body = null, locked_until = now() - interval '1 s' where tenant = $1`,
      [world.scope.tenant],
    );
    await post(`/v1/threads/${id}/messages`, text, 201, headers);
    expect(await outbox()).toHaveLength(1);
    expect((await get(`/v1/threads/${id}/messages`)).data).toHaveLength(2);
  });

  test('of two people at once is sent twice, in the order of the thread, unless one asks for the last message', async () => {
    const { id } = await whatsappThread();
    const lastMessageId = (await get(`/v1/threads/${id}/messages`)).data[0].id;
    const reply = (body: string) =>
      world.call('post', `/v1/threads/${id}/messages`, { body: { text: body, lastMessageId } });
    const answers = await Promise.all([reply('one'), reply('two')]);
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409]);
    expect(answers.find(({ status }) => status === 409)!.body.code).toBe('thread_changed');
    await Promise.all(
      ['three', 'four'].map((body) => post(`/v1/threads/${id}/messages`, { text: body }, 201)),
    );
    const shown = (await get(`/v1/threads/${id}/messages`)).data.map(
      ({ content }: { content: string }) => content,
    );
    expect((await outbox()).map((one) => one.text)).toEqual(shown.slice(0, 3).reverse());
  });

  test('after 24 hours is refused unless it is a template', async () => {
    const { id } = await whatsappThread();
    const leftMs = (await get(`/v1/threads/${id}`)).windowEndsAt - Date.now();
    expect(leftMs / 3_600_000).toBeCloseTo(24, 1);
    await api.db.pool.query(
      `update messages set created_at = now() - interval '25 h' where tenant = $1`,
      [world.scope.tenant],
    );
    expect((await post(`/v1/threads/${id}/messages`, text, 409)).code).toBe('window_closed');
    expect(await get(`/v1/threads/${id}`)).toMatchObject({ state: 'agent', windowEndsAt: null });
    await post(
      `/v1/threads/${id}/messages`,
      { template: { name: 'order_ready', language: 'es' } },
      201,
    );
    expect(await outbox()).toMatchObject([{ type: 'template', text: '[template order_ready]' }]);
  });

  test('may have one file, of which the bytes say the type', async () => {
    const { id } = await whatsappThread();
    const file = {
      filename: 'photo.html',
      data: Buffer.from([0xff, 0xd8, 0xff, 0xe0]).toString('base64'),
    };
    await post(`/v1/threads/${id}/messages`, { text: 'Here', file }, 201);
    expect(await outbox()).toMatchObject([{ type: 'image', text: 'Here' }]);
    for (const body of [
      {},
      { text: '' },
      { text: 'x'.repeat(4_097) },
      { file: { filename: 'a', data: 'é' } },
    ])
      await post(`/v1/threads/${id}/messages`, body, 400);
    const template = { name: 'a', language: 'es' };
    await post(`/v1/threads/${id}/messages`, { ...text, template }, 400);
    await post(
      `/v1/threads/${id}/messages`,
      { file: { ...file, data: 'A'.repeat(15_000_000) } },
      413,
    );
  });

  test('on channel api is stored, and files are refused', async () => {
    const id = await thread(world);
    expect(await post(`/v1/threads/${id}/messages`, text, 201)).toMatchObject({
      channelMessageId: null,
    });
    const file = { filename: 'a.jpg', data: '/9j/4A==' };
    expect((await post(`/v1/threads/${id}/messages`, { file }, 400)).code).toBe('no_channel');
  });
});

test('the end of a takeover lets the agent answer an unanswered message, once', async () => {
  const { id, wamId } = await whatsappThread();
  await post(`/v1/threads/${id}/takeover`);
  expect(await post(`/v1/threads/${id}/resume`, { note: 'Be kind.' })).toMatchObject({
    changed: true,
    answering: true,
  });
  expect(await post(`/v1/threads/${id}/resume`)).toMatchObject({
    changed: false,
    answering: false,
  });
  const { rows } = await api.db.pool.query('select status from messages where id = $1', [wamId]);
  expect(rows).toEqual([{ status: 'received' }]);
  expect((await get(`/v1/threads/${id}/messages`)).data[0]).toMatchObject({
    role: 'system',
    content: 'Be kind.',
  });
});

test('what a person has answered is not answered again', async () => {
  const { id } = await whatsappThread();
  await post(`/v1/threads/${id}/messages`, text, 201);
  expect(await post(`/v1/threads/${id}/resume`)).toMatchObject({ changed: true, answering: false });
});

test('threads are assigned, labelled, closed, noted, read and counted', async () => {
  const { id } = await whatsappThread();
  expect((await get('/v1/threads?unread=true')).data).toHaveLength(1);
  await post(`/v1/threads/${id}/read`);
  expect((await get('/v1/threads?unread=true')).data).toEqual([]);
  await post(`/v1/threads/${id}/notes`, { text: 'Paid in the shop.' }, 201);
  expect((await get(`/v1/threads/${id}/messages`)).data[0]).toMatchObject({
    role: 'note',
    author: { type: 'api_key' },
  });
  await post(`/v1/threads/${id}/presence`, { isOpen: true });
  const { id: assigneeId } = await api.person(world, 'member');
  const { id: another } = await api.person(await api.world(), 'admin');
  await world.call('patch', `/v1/threads/${id}`, { body: { assigneeId: another } }).expect(400);
  const body = { status: 'closed', assigneeId, labels: ['vip', 'order'] };
  const changed = await world.call('patch', `/v1/threads/${id}`, { body }).expect(200);
  expect(changed.body).toMatchObject({ ...body, visitors: [{ type: 'api_key' }] });
  expect(
    (
      await get(
        `/v1/threads?status=closed&assignee=${assigneeId}&label=vip&channel=whatsapp&q=whatsapp`,
      )
    ).data,
  ).toHaveLength(1);
  expect(await get('/v1/thread-counts')).toEqual({ agent: 0, human: 0, waiting: 0, mine: 0 });
  await world.call('patch', `/v1/threads/${id}`, { body: {} }).expect(400);
});

test('a person is shown by name in threads, by e-mail address without one and in the audit log', async () => {
  const id = await thread(world);
  const { headers, email, id: personId } = await api.person(world, 'member');
  const act = (path: string, body?: object) =>
    api.call('post', `/v1/threads/${id}/${path}`, { body, headers });
  const author = { type: 'person', id: personId, name: 'Ana Rojas' };
  await act('presence', { isOpen: true }).expect(200);
  await act('notes', { text: 'Paid.' }).expect(201);
  await act('messages', text).expect(201);
  expect(await get(`/v1/threads/${id}`)).toMatchObject({ takenOverBy: author, visitors: [author] });
  expect((await get(`/v1/threads/${id}/messages?limit=2`)).data).toMatchObject([
    { author },
    { author },
  ]);
  expect((await get('/v1/audit-log')).data[0]).toMatchObject({ actor: { ...author, name: email } });
  await api.db.pool.query('update users set first_name = null, last_name = null where id = $1', [
    personId,
  ]);
  await act('presence', { isOpen: true }).expect(200);
  expect((await get(`/v1/threads/${id}`)).visitors).toEqual([
    { ...author, name: email, isTyping: false },
  ]);
});

test('a visitor of a thread is shown as writing until it says otherwise or leaves', async () => {
  const id = await thread(world);
  const typing = async (body: object) => {
    await post(`/v1/threads/${id}/presence`, body);
    return (await get(`/v1/threads/${id}`)).visitors.map(
      ({ isTyping }: { isTyping: boolean }) => isTyping,
    );
  };
  expect(await typing({ isOpen: true })).toEqual([false]);
  expect(await typing({ isOpen: true, isTyping: true })).toEqual([true]);
  expect(await typing({ isOpen: true })).toEqual([true]);
  expect(await typing({ isOpen: true, isTyping: false })).toEqual([false]);
  expect(await typing({ isOpen: true, isTyping: true })).toEqual([true]);
  expect(await typing({ isOpen: false, isTyping: true })).toEqual([]);
  expect(await typing({ isOpen: true })).toEqual([false]);
  await post(`/v1/threads/${id}/presence`, { isOpen: true, isTyping: 'yes' }, 400);
});

test('an erased thread leaves no message of the contact', async () => {
  const { id, contact } = await whatsappThread();
  const other = await whatsappThread(await api.world());
  await post(`/v1/threads/${id}/messages`, text, 201);
  await world.call('delete', `/v1/threads/${id}`).expect(200, { erased: true });
  const of = [world.scope.tenant];
  for (const table of ['threads', 'messages', 'blobs', 'contact_aliases', 'executions'])
    expect((await api.db.pool.query(`select from ${table} where tenant = $1`, of)).rowCount).toBe(
      0,
    );
  expect(
    (await api.db.pool.query('select from messages where contact = $1', [other.contact])).rowCount,
  ).toBe(1);
  await get(`/v1/threads/whatsapp:${contact}`, 404);
});
