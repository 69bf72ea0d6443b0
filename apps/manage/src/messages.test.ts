import { type TestApi, createTestApi } from './testing/create-test-api';
import { email, message } from './testing/samples/messages';

let api: TestApi;
beforeAll(async () => {
  api = await createTestApi();
});
afterAll(() => api.close());

test('messages are filtered by status, direction, contact in any spelling, thread and time', async () => {
  const world = await api.world();
  const { id, contact } = await message(world, { status: 'delivered' });
  const other = await message(world, { status: 'answered', direction: 'inbound' });
  await api.db.pool.query("update messages set thread_id = 'thread_x' where id = $1", [id]);
  const idsOf = async (query: string) => {
    const { body } = await world.call('get', `/v1/messages?${query}`).expect(200);
    return body.data.map((one: { id: string }) => one.id);
  };
  expect(await idsOf('')).toEqual([other.id, id]);
  expect(await idsOf('status=delivered')).toEqual([id]);
  expect(await idsOf('direction=inbound')).toEqual([other.id]);
  expect(
    await idsOf(`contact=${encodeURIComponent(`+${contact.slice(0, 4)} ${contact.slice(4)}`)}`),
  ).toEqual([other.id, id]);
  expect(await idsOf('threadId=thread_x')).toEqual([id]);
  expect(await idsOf(`since=${Date.now() + 60_000}`)).toEqual([]);
  const { body: first } = await world.call('get', '/v1/messages?limit=1').expect(200);
  expect([first.data[0].id, first.hasMore]).toEqual([other.id, true]);
  expect(first.data[0].media).toMatchObject({
    status: 'ready',
    contentType: 'image/jpeg',
    size: 3,
  });
  expect(await idsOf(`limit=1&cursor=${first.cursor}`)).toEqual([id]);
});

test('a location, a reaction and shared contacts are given as far as they have the form of the provider', async () => {
  const world = await api.world();
  const { id } = await message(world, { status: 'stored', direction: 'inbound' });
  const get = async (type: string, content: unknown) => {
    const payload = JSON.stringify({ message: { type, [type]: content } });
    await api.db.pool.query('update messages set type = $2, payload = $3 where id = $1', [
      id,
      type,
      payload,
    ]);
    const { body } = await world.call('get', `/v1/messages/${id}`).expect(200);
    return [body.location, body.reaction, body.contacts];
  };
  const place = { latitude: -33.4372, longitude: -70.6506, name: 'Plaza' };
  expect(await get('location', place)).toEqual([{ ...place, address: null }, null, null]);
  expect(await get('location', { latitude: '<b>', longitude: 1 })).toEqual([null, null, null]);
  expect(await get('location', null)).toEqual([null, null, null]);
  expect(await get('reaction', { message_id: 'wamid.1', emoji: '👍' })).toEqual([
    null,
    { emoji: '👍', messageId: 'wamid.1' },
    null,
  ]);
  expect(await get('reaction', ['x'])).toEqual([null, { emoji: '', messageId: null }, null]);
  const shared = [{ name: { formatted_name: 'Luis' }, phones: [{ phone: '+56 9 1' }, 7] }, 'x'];
  expect((await get('contacts', shared))[2]).toEqual([
    { name: 'Luis', phoneNumbers: ['+56 9 1'] },
    { name: null, phoneNumbers: [] },
  ]);
  expect(await get('text', { body: 'Hello' })).toEqual([null, null, null]);
});

test('a picture is shown, anything else is downloaded, and a missing file is explained', async () => {
  const world = await api.world();
  const { id } = await message(world);
  const get = () => world.call('get', `/v1/messages/${id}/media`).buffer();
  const { headers, body } = await get().expect(200);
  expect(headers).toMatchObject({
    'content-type': 'image/jpeg',
    'content-length': '3',
    'content-disposition': "inline; filename*=UTF-8''%C3%B1%22%27%28%29.jpg",
    'x-content-type-options': 'nosniff',
    'content-security-policy': "default-src 'none'; sandbox",
  });
  expect(Buffer.from(body).toString('hex')).toBe('ffd8ff');
  const set = (assignments: string) =>
    api.db.pool.query(`update blobs set ${assignments} where id = $1`, [id]);
  await set(`content_type = 'application/octet-stream', bytes = '<html>', filename = 'a.jpg'`);
  const page = await get().expect(200);
  expect([page.headers['content-type'], page.headers['content-disposition']]).toEqual([
    'application/octet-stream',
    "attachment; filename*=UTF-8''a.jpg",
  ]);
  await set(
    `status = 'failed', bytes = null, content_type = null, error = 'the server answers 404'`,
  );
  const { body: failed } = await get().expect(409);
  expect(failed).toMatchObject({
    code: 'media_not_ready',
    error: 'The file could not be fetched: the server answers 404',
  });
  await api.db.pool.query('delete from blobs where id = $1', [id]);
  await get().expect(404);
});

test('what may have been received is sent again only with anyway, and what was delivered never', async () => {
  const world = await api.world();
  const codeOf = async (path: string, body: object = {}) =>
    (await world.call('post', path, { body })).body.code ?? 'ok';
  const ids = [
    (await message(world, { status: 'unknown' })).id,
    (await message(world, { status: 'read' })).id,
  ];
  expect(await codeOf(`/v1/messages/${ids[0]}/retry`)).toBe('in_doubt');
  expect(await codeOf(`/v1/messages/${ids[0]}/retry`, { anyway: true })).toBe('ok');
  expect(await codeOf(`/v1/messages/${ids[1]}/retry`, { anyway: true })).toBe('not_failed');
  const [recent, old, sent] = [
    await email(world, 'unknown'),
    await email(world, 'unknown'),
    await email(world, 'sent'),
  ];
  await api.db.pool.query(
    "update emails set created_at = now() - interval '2 days' where id = $1",
    [old],
  );
  expect(await codeOf(`/v1/emails/${recent}/retry`)).toBe('ok');
  expect(await codeOf(`/v1/emails/${recent}/retry`)).toBe('not_failed');
  expect(await codeOf(`/v1/emails/${old}/retry`)).toBe('in_doubt');
  expect(await codeOf(`/v1/emails/${old}/retry`, { anyway: true })).toBe('ok');
  expect(await codeOf(`/v1/emails/${sent}/retry`, { anyway: true })).toBe('not_failed');
});

test('a channel gets only an agent, router or entity type that exists, and templates come from the provider', async () => {
  const world = await api.world();
  const { connectionId, contact } = await message(world);
  const update = (body: object) => world.call('patch', `/v1/channels/${connectionId}`, { body });
  expect((await update({ agent: 'nobody' }).expect(400)).body.code).toBe('answerer_not_found');
  await update({ router: 'nobody' }).expect(400);
  await update({ contactType: 'nothing' }).expect(400);
  await update({ agent: 'a', router: 'b' }).expect(400);
  expect((await update({ contactType: null }).expect(200)).body).toMatchObject({
    agent: 'helper',
    contactType: null,
  });
  const { body } = await world.call('get', `/v1/channels/${connectionId}/templates`).expect(200);
  expect(body.data).toMatchObject([{ name: 'reminder' }]);
  delete api.kapso.numbers[connectionId];
  await world.call('get', `/v1/channels/${connectionId}/templates`).expect(502);
  const { body: found } = await world.call('get', `/v1/contacts/+${contact}`).expect(200);
  expect(found).toMatchObject({
    id: contact,
    phoneNumber: contact,
    aliases: [contact],
    thread: null,
  });
  expect(found.messages).toHaveLength(1);
});
