import { createChannels, findWaiting, retryMessage } from '@parley/channels';
import { createSecretBox } from '@parley/db';
import { until } from '@parley/testing';
import { type WebhookBench, phoneNumberId, startWebhooks } from './webhooks-under-test';

jest.setTimeout(120_000);

let bench: WebhookBench;
let count = 0;
beforeAll(async () => {
  bench = await startWebhooks();
});
afterEach(() => {
  bench.kapso.faults.length = 0;
  bench.kapso.tellsHistory = true;
  bench.kapso.sent.length = 0;
  expect(bench.kapso.problems).toEqual([]);
});
afterAll(() => bench.close());

/** A customer of this test alone. */
const newContact = () => `1415555${String((count += 1)).padStart(4, '0')}`;

function inbound(contact: string, message: object, conversation: object = {}) {
  const id = `wamid.IN${(count += 1)}`;
  return {
    message: { id, timestamp: String(1_788_264_000 + count), type: 'text', from: contact, ...message },
    conversation: { phone_number: contact, ...conversation },
    phone_number_id: phoneNumberId,
  };
}
const text = (body: string) => ({ type: 'text', text: { body } });
const receive = async (body: object, event = 'whatsapp.message.received') => {
  expect(await bench.postBody('/webhook/kapso/messages', body, { headers: { 'X-Webhook-Event': event } })).toBe(200);
};
const sentTo = (contact: string) => bench.kapso.sent.filter(({ body }) => body.to === contact);
const textsTo = (contact: string) => sentTo(contact).map(({ body }) => (body.text as { body: string }).body);
async function rows(sql: string, values: unknown[] = []): Promise<Record<string, unknown>[]> {
  return (await bench.db.pool.query(sql, values)).rows;
}
const outbound = (contact: string) =>
  rows("select status, error, attempts from messages where contact = $1 and direction = 'outbound' order by id", [
    contact,
  ]);
/** As if the lease of whoever was sending had run out. */
const leasesEnd = () =>
  bench.db.pool.query("update messages set lease_until = now() where status in ('sending', 'queued')");

test('a text is answered by the agent on the thread of the contact, in order, once', async () => {
  const contact = newContact();
  const batch = ['uno', 'dos', 'tres'].map((word) => inbound(contact, text(word)));
  await receive({ type: 'whatsapp.message.received', batch: true, data: batch });
  await receive(batch[0]!);
  await bench.settled();
  expect(textsTo(contact)).toHaveLength(3);
  const turns = await rows(
    'select e.input from executions e join threads t on t.id = e.thread_id where t.external_id = $1 order by e.id',
    [`whatsapp:${contact}`],
  );
  expect(turns.map(({ input }) => input)).toEqual(['uno', 'dos', 'tres']);
  expect(await rows('select channel from threads where external_id = $1', [`whatsapp:${contact}`])).toEqual([
    { channel: 'whatsapp' },
  ]);
});

test.each([
  [
    'a button',
    { type: 'interactive', interactive: { type: 'button_reply', button_reply: { id: 'b', title: 'Pagar' } } },
    'Pagar',
  ],
  [
    'a row of a list',
    { type: 'interactive', interactive: { type: 'list_reply', list_reply: { id: 'r', title: 'Dos' } } },
    'Dos',
  ],
  ['a quick reply', { type: 'button', button: { text: 'Si', payload: 'yes' } }, 'Si'],
  ['a voice note', { type: 'audio', audio: { id: '1' }, kapso: { transcript: { text: 'hola' } } }, 'hola'],
  [
    'a picture with words',
    { type: 'image', image: { caption: 'mira' }, kapso: { media_url: 'https://m.example/1' } },
    'mira\n[image: https://m.example/1]',
  ],
])('%s is a question', async (_, message, input) => {
  const contact = newContact();
  await receive(inbound(contact, message));
  await bench.settled();
  const turns = await rows(
    'select e.input from executions e join threads t on t.id = e.thread_id where t.external_id = $1',
    [`whatsapp:${contact}`],
  );
  expect(turns).toEqual([{ input }]);
  expect(sentTo(contact)).toHaveLength(1);
});

test('a picture without words gets the polite reply; a place, a reaction and imported history get none, and all are kept', async () => {
  const contact = newContact();
  await receive(inbound(contact, { type: 'image', image: { id: '1' } }));
  await bench.settled();
  expect(textsTo(contact)).toEqual([expect.stringContaining('only read text')]);
  await receive(inbound(contact, { type: 'location', location: { latitude: 1, longitude: 2 } }));
  await receive(inbound(contact, { type: 'reaction', reaction: { emoji: 'x' }, kapso: { content: 'Reacted' } }));
  await receive(inbound(contact, { ...text('old'), kapso: { origin: 'history_sync' } }));
  await bench.settled();
  expect(sentTo(contact)).toHaveLength(1);
  expect(
    await rows("select type, status from messages where contact = $1 and direction = 'inbound' order by type", [
      contact,
    ]),
  ).toEqual([
    { type: 'image', status: 'answered' },
    { type: 'location', status: 'stored' },
    { type: 'reaction', status: 'stored' },
    { type: 'text', status: 'stored' },
  ]);
});

test('while a person has taken over, messages are kept and not answered', async () => {
  const contact = newContact();
  await receive(inbound(contact, text('hola')));
  await bench.settled();
  await bench.db.pool.query('update threads set agent_paused = true where external_id = $1', [`whatsapp:${contact}`]);
  await receive(inbound(contact, text('sigo')));
  await receive(inbound(contact, { type: 'image', image: { id: '1' } }));
  await bench.settled();
  expect(sentTo(contact)).toHaveLength(1);
  const turns = await rows(
    'select e.input, e.output from executions e join threads t on t.id = e.thread_id where t.external_id = $1 order by e.id',
    [`whatsapp:${contact}`],
  );
  expect(turns[1]).toEqual({ input: 'sigo', output: null });
});

test('a contact keeps its thread when its number or its scoped id is missing', async () => {
  const contact = newContact();
  const scoped = `US.${contact}`;
  await receive(
    inbound(contact, { ...text('sin numero'), from: undefined, from_user_id: scoped }, { phone_number: null }),
  );
  await bench.settled();
  expect(await rows('select 1 from threads where external_id = $1', [`whatsapp:${scoped}`])).toHaveLength(1);
  expect(bench.kapso.sent.map(({ body }) => body.recipient)).toContain(scoped);
  await receive(inbound(contact, { ...text('solo numero') }));
  await bench.settled();
  // Now the two are seen to be one: what was said under the scoped id moves over.
  await receive(inbound(contact, { ...text('ambos'), from_user_id: scoped }, { phone_number: `+${contact}` }));
  await bench.settled();
  await receive(
    inbound(contact, { ...text('otra vez'), from: undefined, from_user_id: scoped }, { phone_number: null }),
  );
  await bench.settled();
  const turns = await rows(
    `select t.external_id, e.input from executions e join threads t on t.id = e.thread_id
     where e.input in ('sin numero', 'solo numero', 'ambos', 'otra vez') order by e.id`,
  );
  expect(turns).toEqual(
    ['sin numero', 'solo numero', 'ambos', 'otra vez'].map((input) => ({ external_id: `whatsapp:${contact}`, input })),
  );
});

describe('a reply whose sending fails', () => {
  const say = async () => {
    const contact = newContact();
    await receive(inbound(contact, text('hola')));
    return contact;
  };

  test.each(['busy', 'limited', 'broken'] as const)('with "%s" is sent later, once', async (fault) => {
    bench.kapso.faults.push(fault, fault);
    const contact = await say();
    await bench.settled();
    expect(sentTo(contact)).toHaveLength(1);
    expect(await outbound(contact)).toMatchObject([{ status: 'sent', attempts: 3 }]);
  });

  test('for good ends as failed, with the reason', async () => {
    bench.kapso.faults.push('refused');
    const contact = await say();
    await bench.settled();
    expect(await outbound(contact)).toMatchObject([
      { status: 'failed', error: expect.stringContaining('undeliverable') },
    ]);
  });

  test('after the provider has taken it is not sent again: the provider is asked', async () => {
    bench.kapso.faults.push('lost_after');
    const contact = await say();
    await bench.settled();
    expect(sentTo(contact)).toHaveLength(1);
    expect(await outbound(contact)).toMatchObject([{ status: 'sent', attempts: 1 }]);
  });

  test('before the provider has taken it is sent again, once the lease is over', async () => {
    bench.kapso.faults.push('lost_before');
    const contact = await say();
    await until(
      async () => (await outbound(contact))[0]?.error !== undefined && (await outbound(contact))[0]?.error !== null,
    );
    expect(sentTo(contact)).toHaveLength(0);
    await leasesEnd();
    await bench.settled();
    expect(sentTo(contact)).toHaveLength(1);
  });

  test('and nobody can tell ends as unknown, and is never sent twice', async () => {
    bench.kapso.tellsHistory = false;
    bench.kapso.faults.push('lost_after');
    const contact = await say();
    await until(async () => (await outbound(contact))[0]?.error != null);
    await bench.db.pool.query("update messages set attempts = 18 where contact = $1 and direction = 'outbound'", [
      contact,
    ]);
    await until(async () => {
      await leasesEnd();
      return (await outbound(contact))[0]?.status === 'unknown';
    });
    expect(await outbound(contact)).toMatchObject([{ attempts: 20 }]);
    expect(sentTo(contact)).toHaveLength(1);
    // Its status comes, and tells which it was.
    const { id, body } = sentTo(contact)[0]!;
    const status = {
      message: {
        id,
        to: contact,
        type: 'text',
        text: body.text,
        kapso: { direction: 'outbound', status: 'delivered' },
      },
      conversation: { phone_number: contact },
      phone_number_id: phoneNumberId,
    };
    await receive(status, 'whatsapp.message.delivered');
    await bench.settled();
    expect(await outbound(contact)).toMatchObject([{ status: 'delivered' }]);
  });

  test('and nobody can tell at first is found by a later look, in the stretch of the first try', async () => {
    bench.kapso.tellsHistory = false;
    bench.kapso.faults.push('lost_after');
    const contact = await say();
    // Each look has ended only when it has noted that the provider could not be asked.
    const hasLooked = async () => String((await outbound(contact))[0]?.error).includes('could not be asked');
    await until(hasLooked);
    expect(await outbound(contact)).toMatchObject([{ status: 'sending', attempts: 1 }]);
    await bench.db.pool.query('update messages set error = null where contact = $1', [contact]);
    await leasesEnd();
    await until(async () => (await outbound(contact))[0]?.attempts === 2 && (await hasLooked()));
    // As if the try had been minutes before this look.
    bench.kapso.sent.forEach((one) => (one.atMs -= 300_000));
    await bench.db.pool.query(
      "update messages set sent_at = sent_at - interval '5 minutes' where contact = $1 and status = 'sending'",
      [contact],
    );
    bench.kapso.tellsHistory = true;
    await leasesEnd();
    await bench.settled();
    expect(sentTo(contact)).toHaveLength(1);
    expect(await outbound(contact)).toMatchObject([{ status: 'sent' }]);
  });

  test('try after try ends as unknown, as each may be on its way', async () => {
    bench.kapso.faults.push('lost_before', 'lost_before');
    const contact = await say();
    await until(async () => (await outbound(contact))[0]?.error != null);
    await bench.db.pool.query(
      "update messages set attempts = 19, lease_until = now() where contact = $1 and direction = 'outbound'",
      [contact],
    );
    await until(async () => (await outbound(contact))[0]?.status === 'unknown');
    expect(await outbound(contact)).toMatchObject([{ attempts: 20 }]);
    expect(sentTo(contact)).toHaveLength(0);
  });

  test('stays open when the account has gone meanwhile, and is no message that was certainly not sent', async () => {
    bench.kapso.tellsHistory = false;
    bench.kapso.faults.push('lost_after');
    const contact = await say();
    await until(async () => (await outbound(contact))[0]?.error != null);
    await bench.stopWorker();
    await leasesEnd();
    const withoutAccount = createChannels({
      db: bench.db,
      box: createSecretBox(Buffer.alloc(32).toString('base64')),
      settings: { KAPSO_API_URL: bench.kapso.url, RESEND_API_URL: bench.kapso.url },
      log: { warn: () => {} },
    });
    const [{ id }] = (await rows("select id from messages where contact = $1 and direction = 'outbound'", [
      contact,
    ])) as [{ id: string }];
    expect(await withoutAccount.tryMessage(bench.organization.scope, id)).toBe('later');
    expect(await outbound(contact)).toMatchObject([{ status: 'sending', attempts: 2 }]);
    bench.kapso.tellsHistory = true;
    await leasesEnd();
    bench.startWorker();
    await bench.settled();
    expect(sentTo(contact)).toHaveLength(1);
    expect(await outbound(contact)).toMatchObject([{ status: 'sent' }]);
  });

  test('to a scoped id: what was said to others at the time is not taken for it', async () => {
    const contact = newContact();
    const scoped = `US.${contact}`;
    bench.kapso.faults.push('lost_before');
    await receive(inbound(contact, { ...text('hola'), from: undefined, from_user_id: scoped }, { phone_number: null }));
    await until(async () => (await outbound(scoped))[0]?.error != null);
    const [{ text: reply }] = (await rows("select text from messages where contact = $1 and direction = 'outbound'", [
      scoped,
    ])) as [{ text: string }];
    const body = { type: 'text', recipient: 'US.other', text: { body: reply } };
    bench.kapso.sent.push({ id: 'wamid.OTHER', phoneNumberId, body, atMs: Date.now() });
    await leasesEnd();
    await until(async () => (await outbound(scoped))[0]?.attempts === 2);
    expect(await outbound(scoped)).toMatchObject([{ status: 'sending' }]);
    bench.kapso.sent.length = 0;
    await leasesEnd();
    await bench.settled();
    expect(bench.kapso.sent).toMatchObject([{ body: { recipient: scoped } }]);
  });

  test('with a 5xx that says nothing is sent anew only when the provider can tell that it has not got it', async () => {
    for (const [fault, before] of [
      ['broken', 0],
      ['broken_after', 1],
    ] as const) {
      bench.kapso.tellsHistory = false;
      bench.kapso.faults.push(fault);
      const contact = await say();
      await until(async () => (await outbound(contact))[0]?.error != null);
      await leasesEnd();
      await until(async () => (await outbound(contact))[0]?.attempts === 2);
      expect(sentTo(contact)).toHaveLength(before);
      expect(await outbound(contact)).toMatchObject([
        { status: 'sending', error: expect.stringContaining('could not be asked') },
      ]);
      bench.kapso.tellsHistory = true;
      await leasesEnd();
      await bench.settled();
      expect(sentTo(contact)).toHaveLength(1);
      expect(await outbound(contact)).toMatchObject([{ status: 'sent', error: null }]);
    }
  });

  test('is sent by hand: what never left as it is, what may have been seen as a new one and only when told to', async () => {
    const { scope } = bench.organization;
    const retry = (id: string, anyway = false) => retryMessage(bench.db, scope, id, { anyway });
    const idsOf = async (contact: string) =>
      (await rows("select id from messages where contact = $1 and direction = 'outbound' order by id", [contact])).map(
        ({ id }) => id as string,
      );
    bench.kapso.faults.push('refused');
    const refused = await say();
    await bench.settled();
    const [first] = (await idsOf(refused)) as [string];
    expect(await retry(first)).toEqual({ ok: true, id: first, direction: 'outbound' });
    await bench.settled();
    expect(await outbound(refused)).toMatchObject([{ status: 'sent' }]);
    expect(await retry(first)).toEqual({ ok: false, reason: 'not_failed', id: first, status: 'sent' });

    // The provider says later that it did not arrive.
    await bench.db.pool.query("update messages set status = 'failed', error = 'x' where id = $1", [first]);
    const second = await retry(first);
    expect(second).toMatchObject({ ok: true, id: expect.not.stringMatching(first) });
    await bench.settled();
    const { id } = second as { id: string };
    const isSent = { ok: false, reason: 'not_failed', id, status: 'sent' };
    expect(await retry(first)).toEqual(isSent);
    expect(await outbound(refused)).toMatchObject([{ status: 'failed' }, { status: 'sent' }]);
    expect(new Set(textsTo(refused)).size).toBe(1);
    expect(sentTo(refused)).toHaveLength(2);

    await bench.db.pool.query("update messages set status = 'unknown', message_id = null where id = $1", [first]);
    expect(await retry(first)).toEqual({ ok: false, reason: 'in_doubt' });
    expect(await retry(first, true)).toEqual(isSent);
    // What took its place has failed, too, and never left: asking for the first one sends that.
    await bench.db.pool.query("update messages set status = 'failed', message_id = null where id = $1", [id]);
    expect(await retry(first, true)).toEqual(second);
    await bench.settled();
    expect(sentTo(refused)).toHaveLength(3);
    expect(await retry('wam_nobody')).toEqual({ ok: false, reason: 'not_found' });
    expect(
      await retryMessage(bench.db, { ...scope, environment: 'production' }, first, { anyway: true }),
    ).toMatchObject({ reason: 'not_found' });
  });

  test('because its sender was killed is looked for first', async () => {
    const contact = await say();
    await bench.settled();
    // As a killed process leaves it: marked, taken by the provider, and its answer not written.
    await bench.db.pool.query(
      "update messages set status = 'sending', message_id = null, lease_owner = 'dead', lease_until = now() where contact = $1 and direction = 'outbound'",
      [contact],
    );
    await bench.settled();
    expect(sentTo(contact)).toHaveLength(1);
    expect(await outbound(contact)).toMatchObject([{ status: 'sent' }]);
  });
});

test('statuses end in the furthest, in every order, also before the answer to the sending is stored', async () => {
  const all = ['sent', 'delivered', 'read'];
  const orders = all.flatMap((a) =>
    all.filter((b) => b !== a).map((b) => [a, b, all.find((c) => c !== a && c !== b)!]),
  );
  for (const [at, order] of [...orders, ['failed', 'sent', 'read'], ['read', 'failed', 'sent']].entries()) {
    const id = `wamid.ST${at}`;
    const insert = () =>
      bench.db.pool.query(
        `insert into messages (id, tenant, environment, connection_id, direction, message_id, contact, type, payload, status, updated_at)
         values ($1, $2, 'development', $3, 'outbound', null, '1', 'text', '{}', 'sending', now())`,
        [id, bench.organization.scope.tenant, bench.connectionId],
      );
    await insert();
    for (const status of order) {
      const item = {
        message: {
          id,
          kapso: { status, statuses: [{ id, status, biz_opaque_callback_data: at % 2 ? id : undefined }] },
        },
        phone_number_id: phoneNumberId,
      };
      await receive(item, `whatsapp.message.${status}`);
    }
    await until(async () => (await rows("select 1 from webhook_deliveries where status = 'received'")).length === 0);
    const { markSent } = await import('../../../libs/channels/src/whatsapp/outbox');
    await markSent(bench.db, { ...bench.organization.scope, id, connectionId: bench.connectionId }, id);
    const expected = order.includes('failed') ? 'failed' : 'read';
    expect(await rows('select status from messages where id = $1', [id])).toEqual([{ status: expected }]);
  }
});

test('a turn that was cut off after it had called a tool is finished without calling it again', async () => {
  const contact = newContact();
  await bench.stopWorker();
  const question = '/tool entity.create {"type":"order","data":{"note":"uno"}}';
  const body = inbound(contact, text(question));
  await receive(body);
  // As a killed worker leaves it: the turn has called the tool, and its process is gone.
  const { tenant, environment } = bench.organization.scope;
  const message = 'wam_cut';
  await bench.db.pool.query(
    `insert into messages (id, tenant, environment, connection_id, direction, message_id, contact, type, text, payload, status, sent_at, updated_at)
     values ($1, $2, 'development', $3, 'inbound', $4, $5, 'text', 'x', $6, 'answering', now(), now())`,
    [message, tenant, bench.connectionId, body.message.id, contact, JSON.stringify(body)],
  );
  await bench.db.pool.query("update messages set lease_until = now(), lease_owner = 'dead' where id = $1", [message]);
  await bench.runtime.agents.chat(bench.organization.scope, {
    agent: { slug: 'helper' },
    message: question,
    externalThreadId: `whatsapp:${contact}`,
    channel: 'whatsapp',
    requestId: message,
  });
  await bench.db.pool.query(
    "update executions set status = 'running', output = null, lease_owner = 'dead', lease_until = now() where request_id = $1",
    [message],
  );
  const created = () =>
    rows('select count(*)::int from events where type = \'entity.created\' and environment = $1::"Environment"', [
      environment,
    ]);
  const before = await created();
  bench.startWorker();
  await bench.settled();
  expect(await created()).toEqual(before);
  expect(sentTo(contact)).toHaveLength(1);
});

test('a message whose answer failed is answered when its delivery is replayed', async () => {
  const contact = newContact();
  const body = inbound(contact, text('hola'));
  await bench.db.pool.query("update channel_connections set agent_slug = 'nobody'");
  await receive(body);
  await bench.settled();
  const status = () => rows("select status from messages where contact = $1 and direction = 'inbound'", [contact]);
  expect(await status()).toEqual([{ status: 'failed' }]);
  await bench.db.pool.query("update channel_connections set agent_slug = 'helper'");
  await bench.db.pool.query(
    "update webhook_deliveries set status = 'received', attempts = 0 where position($1 in convert_from(body, 'UTF8')) > 0",
    [body.message.id],
  );
  await bench.settled();
  expect(await status()).toEqual([{ status: 'answered' }]);
  expect(sentTo(contact)).toHaveLength(1);
});

test('a message whose answer failed is answered when a person asks for it, once', async () => {
  const contact = newContact();
  await bench.db.pool.query("update channel_connections set agent_slug = 'nobody'");
  const body = inbound(contact, text('hola'));
  await receive(body);
  await bench.settled();
  await bench.db.pool.query("update channel_connections set agent_slug = 'helper'");
  const retry = () => retryMessage(bench.db, bench.organization.scope, body.message.id, { anyway: false });
  expect(await retry()).toMatchObject({ ok: true, direction: 'inbound' });
  await bench.settled();
  expect(sentTo(contact)).toHaveLength(1);
  expect(await retry()).toEqual({ ok: false, reason: 'not_failed', id: expect.any(String), status: 'answered' });
});

test('a conversation that somebody is at work on gets no further jobs, whatever waits behind', async () => {
  await bench.stopWorker();
  const contact = newContact();
  for (const [at, lease] of [
    [1, "now() + interval '4 seconds'"],
    [2, 'null'],
  ] as const)
    await bench.db.pool.query(
      `insert into messages (id, tenant, environment, connection_id, direction, message_id, contact, type, payload, status, sent_at, lease_until, created_at, updated_at)
       values ($1, $2, 'development', $3, 'inbound', $1, $4, 'text', '{}', 'received', now() + $5 * interval '1 second', ${lease}, now() - interval '1 minute', now())`,
      [`wam_wait${at}`, bench.organization.scope.tenant, bench.connectionId, contact, at],
    );
  const waiting = { connectionId: bench.connectionId, contact };
  expect(await findWaiting(bench.db, 100)).not.toContainEqual(waiting);
  await bench.db.pool.query("update messages set lease_until = now() where id = 'wam_wait1'");
  expect(await findWaiting(bench.db, 100)).toContainEqual(waiting);
  await bench.db.pool.query('delete from messages where contact = $1', [contact]);
  bench.startWorker();
});

describe('tools', () => {
  const run = (name: string, args: object, callId?: string) =>
    bench.runtime.tools.run(bench.organization.scope, {
      name,
      args,
      actor: { type: 'system' },
      allowed: null,
      context: { hops: 0, depth: 0, ...(callId && { executionId: '1', callId }) },
    });

  test('whatsapp.send: outside of the window nothing is sent, and the template is named', async () => {
    const to = newContact();
    expect(await run('whatsapp.send', { to, text: 'hola' })).toMatchObject({
      ok: true,
      result: { status: 'window_closed', hint: expect.stringContaining('sendTemplate') },
    });
    expect(await run('whatsapp.sendTemplate', { to, template: 'reminder', language: 'es' })).toMatchObject({
      ok: true,
      result: { status: 'sent', messageId: expect.stringContaining('wamid.') },
    });
    expect(sentTo(to)).toMatchObject([
      { body: { type: 'template', template: { name: 'reminder', language: { code: 'es' } } } },
    ]);
  });

  test('within the window: text, buttons, media; the same call sends once', async () => {
    const to = newContact();
    await receive(inbound(to, { type: 'reaction', reaction: {} }));
    await bench.settled();
    const first = await run('whatsapp.send', { to: `+${to}`, text: 'uno' }, 'call_1');
    const again = await run('whatsapp.send', { to: `+${to}`, text: 'uno' }, 'call_1');
    expect(again).toEqual(first);
    const buttons = [{ id: 'y', title: 'Si' }];
    expect(await run('whatsapp.sendInteractive', { to, text: 'Seguro?', buttons })).toMatchObject({ ok: true });
    expect(await run('whatsapp.sendInteractive', { to, text: 'nada' })).toMatchObject({
      errorType: 'invalid_arguments',
    });
    expect(
      await run('whatsapp.sendMedia', { to, mediaType: 'image', url: 'https://x.example/a.png', caption: 'a' }),
    ).toMatchObject({ ok: true });
    expect(sentTo(to).map(({ body }) => body.type)).toEqual(['text', 'interactive', 'image']);
    const { result } = first as unknown as { result: { id: string } };
    expect(await run('whatsapp.getStatus', { id: result.id })).toMatchObject({
      ok: true,
      result: { status: 'sent', text: 'uno' },
    });
    expect(await run('whatsapp.getStatus', { id: 'nope' })).toMatchObject({ errorType: 'not_found' });
    expect(await run('whatsapp.getConversation', { contact: to })).toMatchObject({
      ok: true,
      result: { contact: to, windowOpen: true, messages: [{ direction: 'inbound' }, { text: 'uno' }, {}, {}] },
    });
    expect(await run('whatsapp.listTemplates', {})).toMatchObject({
      ok: true,
      result: { templates: [{ name: 'reminder' }] },
    });
    bench.kapso.faults.push('refused');
    const sendTwo = () => run('whatsapp.send', { to, text: 'dos' }, 'again');
    expect(await sendTwo()).toMatchObject({ errorType: 'execution_error' });
    expect(await sendTwo()).toMatchObject({ result: { status: 'sent' } });
    expect(await sendTwo()).toMatchObject({ result: { status: 'sent' } });
    expect(sentTo(to)).toHaveLength(4);
    bench.kapso.faults.push('window_closed');
    expect(await run('whatsapp.send', { to, text: 'tarde' })).toMatchObject({ result: { status: 'window_closed' } });
  });

  test('email.send: one e-mail whatever is lost on the way, and its statuses', async () => {
    const args = { to: 'a@b.example', subject: 'Hola', text: 'Que tal' };
    expect(await run('email.send', { ...args, text: undefined })).toMatchObject({ errorType: 'invalid_arguments' });
    bench.resend.faults.push('lost_after');
    const sent = (await run('email.send', args)) as unknown as { result: { id: string } };
    expect(sent).toMatchObject({ ok: true, result: { status: 'queued' } });
    const email = async () =>
      (await rows('select status, provider_id from emails where id = $1', [sent.result.id]))[0]!;
    await until(async () => (await email()).status === 'sent');
    expect(bench.resend.sent).toHaveLength(1);
    expect(bench.resend.sent[0]).toMatchObject({ key: sent.result.id, body: { from: 'Acme <hello@acme.example>' } });
    const tell = (type: string) =>
      bench.postBody('/webhook/resend', { type, data: { email_id: bench.resend.sent[0]!.id, to: ['a@b.example'] } });
    expect(await Promise.all([tell('email.complained'), tell('email.delivered'), tell('email.opened')])).toEqual([
      200, 200, 200,
    ]);
    await until(async () => (await email()).status === 'complained');
    expect(bench.resend.problems).toEqual([]);
  });

  test('email.send: the same call again sends what certainly was not sent, and only that', async () => {
    const again = () => run('email.send', { to: 'c@d.example', subject: 'Dos', text: 'x' }, 'mail-again');
    const { result } = (await again()) as unknown as { result: { id: string } };
    const request = bench.resend.sent.at(-1)!.body;
    const state = async () => (await rows('select status, attempts, error from emails where id = $1', [result.id]))[0]!;
    const becomes = (status: string, attempts: number, age: string) =>
      bench.db.pool.query(
        `update emails set status = $2, attempts = $3, error = 'x', provider_id = null, created_at = now() - $4::interval,
                           payload = coalesce(payload, $5::jsonb)
         where id = $1`,
        [result.id, status, attempts, age, JSON.stringify(request)],
      );
    await becomes('failed', 8, '2 days');
    await again();
    expect(await state()).toMatchObject({ status: 'failed', attempts: 8 });
    await becomes('unknown', 1, '2 days');
    await again();
    expect(await state()).toMatchObject({ status: 'unknown' });
    await becomes('failed', 1, '2 days');
    await again();
    expect(await state()).toEqual({ status: 'sent', attempts: 1, error: null });
    await again();
    expect(await state()).toMatchObject({ status: 'sent', attempts: 1 });
  });
});

// The last of this file: it takes the number away.
test('a number that is disconnected leaves nothing open, and holds nothing up once it is back', async () => {
  await bench.stopWorker();
  const { tenant } = bench.organization.scope;
  const contact = newContact();
  const insert = (id: string, direction: string, status: string, connectionId: string) =>
    bench.db.pool.query(
      `insert into messages (id, tenant, environment, connection_id, direction, contact, type, text, payload, status, updated_at)
       values ($1, $2, 'development', $3, $4::"MessageDirection", $5, 'text', 'hola', $6, $7, now())`,
      [
        id,
        tenant,
        connectionId,
        direction,
        contact,
        JSON.stringify({ to: contact, type: 'text', text: { body: 'hola' } }),
        status,
      ],
    );
  await insert('wam_1', 'outbound', 'queued', bench.connectionId);
  await insert('wam_2', 'outbound', 'sending', bench.connectionId);
  await insert('wam_3', 'inbound', 'received', bench.connectionId);
  await insert('wam_4', 'inbound', 'answering', bench.connectionId);
  const { disconnectNumber } = await import('@parley/channels');
  expect(await disconnectNumber(bench.runtime.connect, phoneNumberId)).toMatchObject({ ok: true });
  const error = 'the number was disconnected';
  expect(await rows('select status, error from messages where contact = $1 order by id', [contact])).toEqual([
    { status: 'failed', error },
    { status: 'unknown', error },
    { status: 'failed', error },
    { status: 'failed', error },
  ]);
  // As one that was left open before.
  await bench.db.pool.query("update messages set status = 'queued' where id = 'wam_1'");
  await bench.db.pool.query(
    `insert into channel_connections (id, tenant, environment, external_customer_id, phone_number_id, status, updated_at)
     values ('conn_back', $1, 'development', 'customer', $2, 'connected', now())`,
    [tenant, phoneNumberId],
  );
  await insert('wam_5', 'outbound', 'queued', 'conn_back');
  expect(await bench.runtime.channels.tryMessage(bench.organization.scope, 'wam_5')).toBe('sent');
});
