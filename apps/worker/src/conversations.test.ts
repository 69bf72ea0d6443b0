import { createChannels, findWaiting, retryMessage } from '@parley/channels';
import { createSecretBox } from '@parley/db';
import { until } from '@parley/testing';
import {
  type WebhookServices,
  phoneNumberId,
  startWebhookServices,
} from '../testing/start-webhook-services';

jest.setTimeout(120_000);

let services: WebhookServices;
let count = 0;
beforeAll(async () => {
  services = await startWebhookServices();
});
afterEach(() => {
  services.kapso.faults.length = 0;
  services.kapso.returnsHistory = true;
  services.kapso.sent.length = 0;
  expect(services.kapso.problems).toEqual([]);
});
afterAll(() => services.close());

/** A phone number that no other test uses. */
const newContact = () => `1415555${String((count += 1)).padStart(4, '0')}`;

function inbound(contact: string, message: object, conversation: object = {}) {
  const id = `wamid.IN${(count += 1)}`;
  return {
    message: {
      id,
      timestamp: String(1_788_264_000 + count),
      type: 'text',
      from: contact,
      ...message,
    },
    conversation: { phone_number: contact, ...conversation },
    phone_number_id: phoneNumberId,
  };
}
const text = (body: string) => ({ type: 'text', text: { body } });
const receive = async (body: object, event = 'whatsapp.message.received') => {
  expect(
    await services.postBody('/webhook/kapso/messages', body, {
      headers: { 'X-Webhook-Event': event },
    }),
  ).toBe(200);
};
const sentTo = (contact: string) => services.kapso.sent.filter(({ body }) => body.to === contact);
const textsTo = (contact: string) =>
  sentTo(contact).map(({ body }) => (body.text as { body: string }).body);
async function rows(sql: string, values: unknown[] = []): Promise<Record<string, unknown>[]> {
  return (await services.db.pool.query(sql, values)).rows;
}
const outbound = (contact: string) =>
  rows(
    "select status, error, attempts from messages where contact = $1 and direction = 'outbound' order by id",
    [contact],
  );
/** Simulates that the leases of messages that are being sent have expired. */
const expireLeases = () =>
  services.db.pool.query(
    "update messages set lease_until = now() where status in ('sending', 'queued')",
  );

const turnsOf = (contact: string) =>
  rows(
    'select e.input, e.output from executions e join threads t on t.id = e.thread_id where t.external_id = $1 order by e.id',
    [`whatsapp:${contact}`],
  );
const excess = [
  ...Array.from({ length: 28 }, (_, n) => text(`excess ${n}`)),
  { type: 'image', image: { id: '1' }, kapso: { media_url: 'https://m.example/2' } },
  { type: 'image', image: { caption: 'mira' } },
];
/**
 * Sends 50 messages at once, 30 more than are answered one by one, and waits until the answers of
 * the others have been sent.
 */
async function flood(contact: string): Promise<void> {
  const alone = Array.from({ length: 20 }, (_, n) => text(`alone ${n}`));
  const batch = [...alone, ...excess].map((message) => inbound(contact, message));
  await receive({ type: 'whatsapp.message.received', batch: true, data: batch });
  await until(() => textsTo(contact).length === 20, { limitMs: 60_000 });
}
/** Simulates that the time has passed for which an excess message waits for others. */
const passWait = (contact: string) =>
  services.db.pool.query(
    `update messages set created_at = created_at - interval '12 s',
       lease_until = case when status = 'received' then now() end where contact = $1 and direction = 'inbound'`,
    [contact],
  );

test('of a contact that sends more than 20 messages in a minute, the rest is answered together in one turn', async () => {
  const contact = newContact();
  await flood(contact);
  await passWait(contact);
  await services.settled();
  const turns = await turnsOf(contact);
  expect(turns.map(({ input }) => input)).toEqual([
    ...Array.from({ length: 20 }, (_, n) => `alone ${n}`),
    [
      ...Array.from({ length: 28 }, (_, n) => `excess ${n}`),
      '[image: https://m.example/2]',
      'mira',
    ].join('\n'),
  ]);
  expect(textsTo(contact)).toHaveLength(21);
  const states = await rows(
    "select status, thread_id is not null as known, count(*)::int from messages where contact = $1 and direction = 'inbound' group by 1, 2",
    [contact],
  );
  expect(states).toEqual([{ status: 'answered', known: true, count: 50 }]);
});

test('messages that wait to be answered together are stored when a person takes the thread over', async () => {
  const contact = newContact();
  await flood(contact);
  await services.db.pool.query(`update threads set state = 'human' where external_id = $1`, [
    `whatsapp:${contact}`,
  ]);
  await passWait(contact);
  await services.settled();
  expect(textsTo(contact)).toHaveLength(20);
  expect((await turnsOf(contact)).at(-1)).toEqual({
    input: expect.stringMatching(/^excess 0\nexcess 1\n/),
    output: null,
  });
  const stored = await rows("select from messages where contact = $1 and status = 'stored'", [
    contact,
  ]);
  expect(stored).toHaveLength(30);
});

test("texts are answered by the agent on the contact's thread, in order and once each", async () => {
  const contact = newContact();
  const batch = ['uno', 'dos', 'tres'].map((word) => inbound(contact, text(word)));
  await receive({ type: 'whatsapp.message.received', batch: true, data: batch });
  await receive(batch[0]!);
  await services.settled();
  expect(textsTo(contact)).toHaveLength(3);
  const turns = await rows(
    'select e.input from executions e join threads t on t.id = e.thread_id where t.external_id = $1 order by e.id',
    [`whatsapp:${contact}`],
  );
  expect(turns.map(({ input }) => input)).toEqual(['uno', 'dos', 'tres']);
  expect(
    await rows('select channel from threads where external_id = $1', [`whatsapp:${contact}`]),
  ).toEqual([{ channel: 'whatsapp' }]);
});

test('a message beside one without an id is answered, and the delivery is failed', async () => {
  const contact = newContact();
  const { message: _, ...without } = inbound(contact, text('nada'));
  const batch = {
    type: 'whatsapp.message.received',
    batch: true,
    data: [without, inbound(contact, text('hola'))],
  };
  expect(await services.postBody('/webhook/kapso/messages', batch)).toBe(500);
  await services.settled();
  expect(textsTo(contact)).toHaveLength(1);
  expect(
    await rows('select status, reason from webhook_deliveries order by received_at desc limit 1'),
  ).toEqual([{ status: 'failed', reason: 'the body has no message of a contact' }]);
});

test.each([
  [
    'a button',
    {
      type: 'interactive',
      interactive: { type: 'button_reply', button_reply: { id: 'b', title: 'Pagar' } },
    },
    'Pagar',
  ],
  [
    'a row of a list',
    {
      type: 'interactive',
      interactive: { type: 'list_reply', list_reply: { id: 'r', title: 'Dos' } },
    },
    'Dos',
  ],
  ['a quick reply', { type: 'button', button: { text: 'Si', payload: 'yes' } }, 'Si'],
  [
    'a voice note',
    { type: 'audio', audio: { id: '1' }, kapso: { transcript: { text: 'hola' } } },
    'hola',
  ],
  [
    'a picture with a caption',
    { type: 'image', image: { caption: 'mira' }, kapso: { media_url: 'https://m.example/1' } },
    'mira\n[image: https://m.example/1]',
  ],
])('%s is answered as a text', async (_, message, input) => {
  const contact = newContact();
  await receive(inbound(contact, message));
  await services.settled();
  const turns = await rows(
    'select e.input from executions e join threads t on t.id = e.thread_id where t.external_id = $1',
    [`whatsapp:${contact}`],
  );
  expect(turns).toEqual([{ input }]);
  expect(sentTo(contact)).toHaveLength(1);
});

test('a picture without a caption gets the media reply; a location, a reaction and imported history get no reply; all are stored', async () => {
  const contact = newContact();
  await receive(inbound(contact, { type: 'image', image: { id: '1' } }));
  await services.settled();
  expect(textsTo(contact)).toEqual([expect.stringContaining('only read text')]);
  await receive(inbound(contact, { type: 'location', location: { latitude: 1, longitude: 2 } }));
  await receive(
    inbound(contact, { type: 'reaction', reaction: { emoji: 'x' }, kapso: { content: 'Reacted' } }),
  );
  await receive(inbound(contact, { ...text('old'), kapso: { origin: 'history_sync' } }));
  await services.settled();
  expect(sentTo(contact)).toHaveLength(1);
  expect(
    await rows(
      "select type, status from messages where contact = $1 and direction = 'inbound' order by type",
      [contact],
    ),
  ).toEqual([
    { type: 'image', status: 'answered' },
    { type: 'location', status: 'stored' },
    { type: 'reaction', status: 'stored' },
    { type: 'text', status: 'stored' },
  ]);
});

test('during a takeover, messages are stored and not answered', async () => {
  const contact = newContact();
  await receive(inbound(contact, text('hola')));
  await services.settled();
  await services.db.pool.query(`update threads set state = 'human' where external_id = $1`, [
    `whatsapp:${contact}`,
  ]);
  await receive(inbound(contact, text('sigo')));
  await receive(inbound(contact, { type: 'image', image: { id: '1' } }));
  await services.settled();
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
    inbound(
      contact,
      { ...text('sin numero'), from: undefined, from_user_id: scoped },
      { phone_number: null },
    ),
  );
  await services.settled();
  expect(
    await rows('select 1 from threads where external_id = $1', [`whatsapp:${scoped}`]),
  ).toHaveLength(1);
  expect(services.kapso.sent.map(({ body }) => body.recipient)).toContain(scoped);
  await receive(inbound(contact, { ...text('solo numero') }));
  await services.settled();
  // This message has both ids, so the thread of the scoped id is merged into the
  // thread of the number.
  await receive(
    inbound(contact, { ...text('ambos'), from_user_id: scoped }, { phone_number: `+${contact}` }),
  );
  await services.settled();
  await receive(
    inbound(
      contact,
      { ...text('otra vez'), from: undefined, from_user_id: scoped },
      { phone_number: null },
    ),
  );
  await services.settled();
  const turns = await rows(
    `select t.external_id, e.input from executions e join threads t on t.id = e.thread_id
     where e.input in ('sin numero', 'solo numero', 'ambos', 'otra vez') order by e.id`,
  );
  expect(turns).toEqual(
    ['sin numero', 'solo numero', 'ambos', 'otra vez'].map((input) => ({
      external_id: `whatsapp:${contact}`,
      input,
    })),
  );
});

describe('a reply whose sending fails', () => {
  const say = async () => {
    const contact = newContact();
    await receive(inbound(contact, text('hola')));
    return contact;
  };

  test.each(['busy', 'limited', 'broken'] as const)(
    'with "%s" is sent later, once',
    async (fault) => {
      services.kapso.faults.push(fault, fault);
      const contact = await say();
      await services.settled();
      expect(sentTo(contact)).toHaveLength(1);
      expect(await outbound(contact)).toMatchObject([{ status: 'sent', attempts: 3 }]);
    },
  );

  test('permanently is failed, with the reason', async () => {
    services.kapso.faults.push('refused');
    const contact = await say();
    await services.settled();
    expect(await outbound(contact)).toMatchObject([
      { status: 'failed', error: expect.stringContaining('undeliverable') },
    ]);
  });

  test('after the provider has accepted it is not sent again, as the history of the provider contains it', async () => {
    services.kapso.faults.push('lost_after');
    const contact = await say();
    await services.settled();
    expect(sentTo(contact)).toHaveLength(1);
    expect(await outbound(contact)).toMatchObject([{ status: 'sent', attempts: 1 }]);
  });

  test('before the provider has accepted it is sent again after the lease has expired', async () => {
    services.kapso.faults.push('lost_before');
    const contact = await say();
    await until(
      async () =>
        (await outbound(contact))[0]?.error !== undefined &&
        (await outbound(contact))[0]?.error !== null,
    );
    expect(sentTo(contact)).toHaveLength(0);
    await expireLeases();
    await services.settled();
    expect(sentTo(contact)).toHaveLength(1);
  });

  test('with an outcome that the provider cannot report becomes unknown, and is never sent twice', async () => {
    services.kapso.returnsHistory = false;
    services.kapso.faults.push('lost_after');
    const contact = await say();
    await until(async () => (await outbound(contact))[0]?.error != null);
    await services.db.pool.query(
      "update messages set attempts = 18 where contact = $1 and direction = 'outbound'",
      [contact],
    );
    await until(async () => {
      await expireLeases();
      return (await outbound(contact))[0]?.status === 'unknown';
    });
    expect(await outbound(contact)).toMatchObject([{ attempts: 20 }]);
    expect(sentTo(contact)).toHaveLength(1);
    // A later delivery reports that the message was sent.
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
    await services.settled();
    expect(await outbound(contact)).toMatchObject([{ status: 'delivered' }]);
  });

  test('with an outcome that the provider reports later is found, at the time of the first attempt', async () => {
    services.kapso.returnsHistory = false;
    services.kapso.faults.push('lost_after');
    const contact = await say();
    // An attempt has ended when it has stored that the provider could not be asked.
    const hasAsked = async () =>
      String((await outbound(contact))[0]?.error).includes('could not be asked');
    await until(hasAsked);
    expect(await outbound(contact)).toMatchObject([{ status: 'sending', attempts: 1 }]);
    await services.db.pool.query('update messages set error = null where contact = $1', [contact]);
    await expireLeases();
    await until(async () => (await outbound(contact))[0]?.attempts === 2 && (await hasAsked()));
    // Simulates that the first attempt was five minutes before.
    services.kapso.sent.forEach((one) => (one.atMs -= 300_000));
    await services.db.pool.query(
      "update messages set sent_at = sent_at - interval '5 minutes' where contact = $1 and status = 'sending'",
      [contact],
    );
    services.kapso.returnsHistory = true;
    await expireLeases();
    await services.settled();
    expect(sentTo(contact)).toHaveLength(1);
    expect(await outbound(contact)).toMatchObject([{ status: 'sent' }]);
  });

  test('at every attempt becomes unknown, as each attempt may have reached the provider', async () => {
    services.kapso.faults.push('lost_before', 'lost_before');
    const contact = await say();
    await until(async () => (await outbound(contact))[0]?.error != null);
    await services.db.pool.query(
      "update messages set attempts = 19, lease_until = now() where contact = $1 and direction = 'outbound'",
      [contact],
    );
    await until(async () => (await outbound(contact))[0]?.status === 'unknown');
    expect(await outbound(contact)).toMatchObject([{ attempts: 20 }]);
    expect(sentTo(contact)).toHaveLength(0);
  });

  test('stays open while the account is missing, as the message may have been sent', async () => {
    services.kapso.returnsHistory = false;
    services.kapso.faults.push('lost_after');
    const contact = await say();
    await until(async () => (await outbound(contact))[0]?.error != null);
    await services.stopWorker();
    await expireLeases();
    const withoutAccount = createChannels({
      db: services.db,
      box: createSecretBox(Buffer.alloc(32).toString('base64')),
      settings: { KAPSO_API_URL: services.kapso.url, RESEND_API_URL: services.kapso.url },
      log: { warn: () => {} },
    });
    const [{ id }] = (await rows(
      "select id from messages where contact = $1 and direction = 'outbound'",
      [contact],
    )) as [{ id: string }];
    expect(await withoutAccount.sendQueuedMessage(services.organization.scope, id)).toBe('later');
    expect(await outbound(contact)).toMatchObject([{ status: 'sending', attempts: 2 }]);
    services.kapso.returnsHistory = true;
    await expireLeases();
    services.startWorker();
    await services.settled();
    expect(sentTo(contact)).toHaveLength(1);
    expect(await outbound(contact)).toMatchObject([{ status: 'sent' }]);
  });

  test('to a scoped id is not confused with the same text to another contact', async () => {
    const contact = newContact();
    const scoped = `US.${contact}`;
    services.kapso.faults.push('lost_before');
    await receive(
      inbound(
        contact,
        { ...text('hola'), from: undefined, from_user_id: scoped },
        { phone_number: null },
      ),
    );
    await until(async () => (await outbound(scoped))[0]?.error != null);
    const [{ text: reply }] = (await rows(
      "select text from messages where contact = $1 and direction = 'outbound'",
      [scoped],
    )) as [{ text: string }];
    const body = { type: 'text', recipient: 'US.other', text: { body: reply } };
    services.kapso.sent.push({ id: 'wamid.OTHER', phoneNumberId, body, atMs: Date.now() });
    await expireLeases();
    await until(async () => (await outbound(scoped))[0]?.attempts === 2);
    expect(await outbound(scoped)).toMatchObject([{ status: 'sending' }]);
    services.kapso.sent.length = 0;
    await expireLeases();
    await services.settled();
    expect(services.kapso.sent).toMatchObject([{ body: { recipient: scoped } }]);
  });

  test('with an ambiguous 5xx is sent again only when the history of the provider does not contain it', async () => {
    for (const [fault, before] of [
      ['broken', 0],
      ['broken_after', 1],
    ] as const) {
      services.kapso.returnsHistory = false;
      services.kapso.faults.push(fault);
      const contact = await say();
      await until(async () => (await outbound(contact))[0]?.error != null);
      await expireLeases();
      await until(async () => (await outbound(contact))[0]?.attempts === 2);
      expect(sentTo(contact)).toHaveLength(before);
      expect(await outbound(contact)).toMatchObject([
        { status: 'sending', error: expect.stringContaining('could not be asked') },
      ]);
      services.kapso.returnsHistory = true;
      await expireLeases();
      await services.settled();
      expect(sentTo(contact)).toHaveLength(1);
      expect(await outbound(contact)).toMatchObject([{ status: 'sent', error: null }]);
    }
  });

  test('can be retried by a person: the same message if it was not sent, a new one only with `anyway` if it may have been', async () => {
    const { scope } = services.organization;
    const retry = (id: string, anyway = false) => retryMessage(services.db, scope, id, { anyway });
    const idsOf = async (contact: string) =>
      (
        await rows(
          "select id from messages where contact = $1 and direction = 'outbound' order by id",
          [contact],
        )
      ).map(({ id }) => id as string);
    services.kapso.faults.push('refused');
    const refused = await say();
    await services.settled();
    const [first] = (await idsOf(refused)) as [string];
    expect(await retry(first)).toEqual({ ok: true, id: first, direction: 'outbound' });
    await services.settled();
    expect(await outbound(refused)).toMatchObject([{ status: 'sent' }]);
    expect(await retry(first)).toEqual({
      ok: false,
      reason: 'not_failed',
      id: first,
      status: 'sent',
    });

    // The provider reports later that the message was not delivered.
    await services.db.pool.query(
      "update messages set status = 'failed', error = 'x' where id = $1",
      [first],
    );
    const second = await retry(first);
    expect(second).toMatchObject({ ok: true, id: expect.not.stringMatching(first) });
    await services.settled();
    const { id } = second as { id: string };
    const isSent = { ok: false, reason: 'not_failed', id, status: 'sent' };
    expect(await retry(first)).toEqual(isSent);
    expect(await outbound(refused)).toMatchObject([{ status: 'failed' }, { status: 'sent' }]);
    expect(new Set(textsTo(refused)).size).toBe(1);
    expect(sentTo(refused)).toHaveLength(2);

    await services.db.pool.query(
      "update messages set status = 'unknown', message_id = null where id = $1",
      [first],
    );
    expect(await retry(first)).toEqual({ ok: false, reason: 'in_doubt' });
    expect(await retry(first, true)).toEqual(isSent);
    // The replacement has failed without being sent: retrying the first message sends
    // the replacement.
    await services.db.pool.query(
      "update messages set status = 'failed', message_id = null where id = $1",
      [id],
    );
    expect(await retry(first, true)).toEqual(second);
    await services.settled();
    expect(sentTo(refused)).toHaveLength(3);
    expect(await retry('wam_missing')).toEqual({ ok: false, reason: 'not_found' });
    expect(
      await retryMessage(services.db, { ...scope, environment: 'production' }, first, {
        anyway: true,
      }),
    ).toMatchObject({ reason: 'not_found' });
  });

  test('because its worker was killed is searched for in the history of the provider first', async () => {
    const contact = await say();
    await services.settled();
    // The state that a killed process leaves: claimed, accepted by the provider, and the
    // response not stored.
    await services.db.pool.query(
      "update messages set status = 'sending', message_id = null, lease_owner = 'dead', lease_until = now() where contact = $1 and direction = 'outbound'",
      [contact],
    );
    await services.settled();
    expect(sentTo(contact)).toHaveLength(1);
    expect(await outbound(contact)).toMatchObject([{ status: 'sent' }]);
  });
});

test('the furthest status is stored, in whatever order statuses arrive, even before the response to the send request is stored', async () => {
  const all = ['sent', 'delivered', 'read'];
  const orders = all.flatMap((a) =>
    all.filter((b) => b !== a).map((b) => [a, b, all.find((c) => c !== a && c !== b)!]),
  );
  for (const [at, order] of [
    ...orders,
    ['failed', 'sent', 'read'],
    ['read', 'failed', 'sent'],
  ].entries()) {
    const id = `wamid.ST${at}`;
    const insert = () =>
      services.db.pool.query(
        `insert into messages (id, tenant, environment, connection_id, direction, message_id, contact, type, payload, status, updated_at)
         values ($1, $2, 'development', $3, 'outbound', null, '1', 'text', '{}', 'sending', now())`,
        [id, services.organization.scope.tenant, services.connectionId],
      );
    await insert();
    for (const status of order) {
      const item = {
        message: {
          id,
          kapso: {
            status,
            statuses: [{ id, status, biz_opaque_callback_data: at % 2 ? id : undefined }],
          },
        },
        phone_number_id: phoneNumberId,
      };
      await receive(item, `whatsapp.message.${status}`);
    }
    await until(
      async () =>
        (await rows("select 1 from webhook_deliveries where status = 'received'")).length === 0,
    );
    const { markSent } = await import('../../../libs/channels/src/whatsapp/outbox');
    await markSent(
      services.db,
      { ...services.organization.scope, id, connectionId: services.connectionId },
      id,
    );
    const expected = order.includes('failed') ? 'failed' : 'read';
    expect(await rows('select status from messages where id = $1', [id])).toEqual([
      { status: expected },
    ]);
  }
});

test.each([1, 3])(
  'an interrupted turn that answers %s messages is finished without calling its tool again',
  async (count) => {
    const contact = newContact();
    await services.stopWorker();
    const question = '/tool entity.create {"type":"order","data":{"note":"uno"}}';
    const body = inbound(contact, text(question));
    await receive(body);
    // The state that a killed worker leaves: the turn has called the tool and has not ended.
    const { tenant, environment } = services.organization.scope;
    const message = `wam_interrupted${count}`;
    await services.db.pool.query(
      `insert into messages (id, tenant, environment, connection_id, direction, message_id, contact, type, text, payload, status,
                           answered_with, sent_at, updated_at)
     select $1 || case n when 1 then '' else '_' || n end, $2, 'development', $3, 'inbound', $4 || case n when 1 then '' else '_' || n end,
            $5, 'text', 'x', $6, case n when 1 then 'answering' else 'received' end, case when n > 1 then $1 end,
            now() + n * interval '1 s', now() from generate_series(1, $7) n`,
      [
        message,
        tenant,
        services.connectionId,
        body.message.id,
        contact,
        JSON.stringify(body),
        count,
      ],
    );
    await services.db.pool.query(
      "update messages set lease_until = now(), lease_owner = 'dead', attempts = 1 where id = $1",
      [message],
    );
    await services.runtime.agents.chat(services.organization.scope, {
      agent: { slug: 'helper' },
      message: question,
      externalThreadId: `whatsapp:${contact}`,
      channel: 'whatsapp',
      requestId: message,
    });
    await services.db.pool.query(
      "update executions set status = 'running', output = null, lease_owner = 'dead', lease_until = now() where request_id = $1",
      [message],
    );
    const created = () =>
      rows(
        'select count(*)::int from events where type = \'entity.created\' and environment = $1::"Environment"',
        [environment],
      );
    const before = await created();
    services.startWorker();
    await services.settled();
    expect(await created()).toEqual(before);
    expect(sentTo(contact)).toHaveLength(1);
    const states = await rows(
      "select distinct status from messages where contact = $1 and direction = 'inbound'",
      [contact],
    );
    expect(states).toEqual([{ status: 'answered' }]);
  },
);

test('a message whose answer failed is answered when its delivery is replayed', async () => {
  const contact = newContact();
  const body = inbound(contact, text('hola'));
  await services.db.pool.query("update channel_connections set agent_slug = 'missing'");
  await receive(body);
  await services.settled();
  const status = () =>
    rows("select status from messages where contact = $1 and direction = 'inbound'", [contact]);
  expect(await status()).toEqual([{ status: 'failed' }]);
  await services.db.pool.query("update channel_connections set agent_slug = 'helper'");
  await services.db.pool.query(
    "update webhook_deliveries set status = 'received', attempts = 0 where position($1 in convert_from(body, 'UTF8')) > 0",
    [body.message.id],
  );
  await services.settled();
  expect(await status()).toEqual([{ status: 'answered' }]);
  expect(textsTo(contact)).toEqual([
    expect.stringMatching(/^Sorry/),
    expect.stringMatching(/^No model provider/),
  ]);
});

test('a message whose answer failed is answered when a person asks for it, once', async () => {
  const contact = newContact();
  await services.db.pool.query("update channel_connections set agent_slug = 'missing'");
  const body = inbound(contact, text('hola'));
  await receive(body);
  await services.settled();
  await services.db.pool.query("update channel_connections set agent_slug = 'helper'");
  const retry = () =>
    retryMessage(services.db, services.organization.scope, body.message.id, { anyway: false });
  expect(await retry()).toMatchObject({ ok: true, direction: 'inbound' });
  await services.settled();
  expect(textsTo(contact)).toEqual([
    expect.stringMatching(/^Sorry/),
    expect.stringMatching(/^No model provider/),
  ]);
  expect(await retry()).toEqual({
    ok: false,
    reason: 'not_failed',
    id: expect.any(String),
    status: 'answered',
  });
});

test('a conversation with a claimed message gets no further job, even if other messages wait', async () => {
  await services.stopWorker();
  const contact = newContact();
  for (const [at, lease] of [
    [1, "now() + interval '4 seconds'"],
    [2, 'null'],
  ] as const)
    await services.db.pool.query(
      `insert into messages (id, tenant, environment, connection_id, direction, message_id, contact, type, payload, status, sent_at, lease_until, created_at, updated_at)
       values ($1, $2, 'development', $3, 'inbound', $1, $4, 'text', '{}', 'received', now() + $5 * interval '1 second', ${lease}, now() - interval '1 minute', now())`,
      [`wam_wait${at}`, services.organization.scope.tenant, services.connectionId, contact, at],
    );
  const { tenant } = services.organization.scope;
  const waiting = { tenant, connectionId: services.connectionId, contact };
  expect(await findWaiting(services.db, 100)).not.toContainEqual(waiting);
  await services.db.pool.query(
    "update messages set lease_until = now() - interval '1 s' where id = 'wam_wait1'",
  );
  expect(await findWaiting(services.db, 100)).toContainEqual(waiting);
  await services.db.pool.query('delete from messages where contact = $1', [contact]);
  services.startWorker();
});

describe('tools', () => {
  const run = (name: string, args: object, callId?: string) =>
    services.runtime.tools.run(services.organization.scope, {
      name,
      args,
      actor: { type: 'system' },
      allowed: null,
      context: { hops: 0, depth: 0, ...(callId && { executionId: '1', callId }) },
    });

  test('whatsapp.send outside of the 24-hour window sends nothing and suggests a template', async () => {
    const to = newContact();
    expect(await run('whatsapp.send', { to, text: 'hola' })).toMatchObject({
      ok: true,
      result: { status: 'window_closed', hint: expect.stringContaining('sendTemplate') },
    });
    expect(
      await run('whatsapp.sendTemplate', { to, template: 'reminder', language: 'es' }),
    ).toMatchObject({
      ok: true,
      result: { status: 'sent', messageId: expect.stringContaining('wamid.') },
    });
    expect(sentTo(to)).toMatchObject([
      { body: { type: 'template', template: { name: 'reminder', language: { code: 'es' } } } },
    ]);
  });

  test('within the window text, buttons and media are sent; the same call sends once', async () => {
    const to = newContact();
    await receive(inbound(to, { type: 'reaction', reaction: {} }));
    await services.settled();
    const first = await run('whatsapp.send', { to: `+${to}`, text: 'uno' }, 'call_1');
    const again = await run('whatsapp.send', { to: `+${to}`, text: 'uno' }, 'call_1');
    expect(again).toEqual(first);
    const buttons = [{ id: 'y', title: 'Si' }];
    expect(await run('whatsapp.sendInteractive', { to, text: 'Seguro?', buttons })).toMatchObject({
      ok: true,
    });
    expect(await run('whatsapp.sendInteractive', { to, text: 'nada' })).toMatchObject({
      errorType: 'invalid_arguments',
    });
    expect(
      await run('whatsapp.sendMedia', {
        to,
        mediaType: 'image',
        url: 'https://x.example/a.png',
        caption: 'a',
      }),
    ).toMatchObject({ ok: true });
    expect(sentTo(to).map(({ body }) => body.type)).toEqual(['text', 'interactive', 'image']);
    const { result } = first as unknown as { result: { id: string } };
    expect(await run('whatsapp.getStatus', { id: result.id })).toMatchObject({
      ok: true,
      result: { status: 'sent', text: 'uno' },
    });
    expect(await run('whatsapp.getStatus', { id: 'nope' })).toMatchObject({
      errorType: 'not_found',
    });
    expect(await run('whatsapp.getConversation', { contact: to })).toMatchObject({
      ok: true,
      result: {
        contact: to,
        windowOpen: true,
        messages: [{ direction: 'inbound' }, { text: 'uno' }, {}, {}],
      },
    });
    expect(await run('whatsapp.listTemplates', {})).toMatchObject({
      ok: true,
      result: { templates: [{ name: 'reminder' }] },
    });
    services.kapso.faults.push('refused');
    const sendTwo = () => run('whatsapp.send', { to, text: 'dos' }, 'again');
    expect(await sendTwo()).toMatchObject({ errorType: 'execution_error' });
    expect(await sendTwo()).toMatchObject({ result: { status: 'sent' } });
    expect(await sendTwo()).toMatchObject({ result: { status: 'sent' } });
    expect(sentTo(to)).toHaveLength(4);
    services.kapso.faults.push('window_closed');
    expect(await run('whatsapp.send', { to, text: 'tarde' })).toMatchObject({
      result: { status: 'window_closed' },
    });
  });

  test('email.send sends one e-mail even if a response is lost, and its statuses are stored', async () => {
    const args = { to: 'a@b.example', subject: 'Hola', text: 'Que tal' };
    expect(await run('email.send', { ...args, text: undefined })).toMatchObject({
      errorType: 'invalid_arguments',
    });
    services.resend.faults.push('lost_after');
    const sent = (await run('email.send', args)) as unknown as { result: { id: string } };
    expect(sent).toMatchObject({ ok: true, result: { status: 'queued' } });
    const email = async () =>
      (await rows('select status, provider_id from emails where id = $1', [sent.result.id]))[0]!;
    await until(async () => (await email()).status === 'sent');
    expect(services.resend.sent).toHaveLength(1);
    expect(services.resend.sent[0]).toMatchObject({
      key: sent.result.id,
      body: { from: 'Acme <hello@acme.example>' },
    });
    const postStatus = (type: string) =>
      services.postBody('/webhook/resend', {
        type,
        data: { email_id: services.resend.sent[0]!.id, to: ['a@b.example'] },
      });
    const events = ['email.complained', 'email.delivered', 'email.opened'];
    expect(await Promise.all(events.map(postStatus))).toEqual([200, 200, 200]);
    await until(async () => (await email()).status === 'complained');
    expect(services.resend.problems).toEqual([]);
  });

  test('email.send with the same call again sends the e-mail only if it certainly was not sent', async () => {
    const again = () =>
      run('email.send', { to: 'c@d.example', subject: 'Dos', text: 'x' }, 'mail-again');
    const { result } = (await again()) as unknown as { result: { id: string } };
    const request = services.resend.sent.at(-1)!.body;
    const state = async () =>
      (await rows('select status, attempts, error from emails where id = $1', [result.id]))[0]!;
    const setState = (status: string, attempts: number, age: string) =>
      services.db.pool.query(
        `update emails set status = $2, attempts = $3, error = 'x', provider_id = null, created_at = now() - $4::interval,
                           payload = coalesce(payload, $5::jsonb)
         where id = $1`,
        [result.id, status, attempts, age, JSON.stringify(request)],
      );
    await setState('failed', 8, '2 days');
    await again();
    expect(await state()).toMatchObject({ status: 'failed', attempts: 8 });
    await setState('unknown', 1, '2 days');
    await again();
    expect(await state()).toMatchObject({ status: 'unknown' });
    await setState('failed', 1, '2 days');
    await again();
    expect(await state()).toEqual({ status: 'sent', attempts: 1, error: null });
    await again();
    expect(await state()).toMatchObject({ status: 'sent', attempts: 1 });
  });
});

// The last test of this file, as it disconnects the number.
test('disconnecting a number ends its open messages, and they do not block the number after it is connected again', async () => {
  await services.stopWorker();
  const { tenant } = services.organization.scope;
  const contact = newContact();
  const insert = (id: string, direction: string, status: string, connectionId: string) =>
    services.db.pool.query(
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
  await insert('wam_1', 'outbound', 'queued', services.connectionId);
  await insert('wam_2', 'outbound', 'sending', services.connectionId);
  await insert('wam_3', 'inbound', 'received', services.connectionId);
  await insert('wam_4', 'inbound', 'answering', services.connectionId);
  const { disconnectNumber } = await import('@parley/channels');
  expect(await disconnectNumber(services.runtime.connect, phoneNumberId)).toMatchObject({
    ok: true,
  });
  const error = 'the number was disconnected';
  expect(
    await rows('select status, error from messages where contact = $1 order by id', [contact]),
  ).toEqual([
    { status: 'failed', error },
    { status: 'unknown', error },
    { status: 'failed', error },
    { status: 'failed', error },
  ]);
  // A message of the connection that was removed does not delay those of the new one.
  await services.db.pool.query("update messages set status = 'queued' where id = 'wam_1'");
  await services.db.pool.query(
    `insert into channel_connections (id, tenant, environment, external_customer_id, phone_number_id, status, updated_at)
     values ('conn_back', $1, 'development', 'customer', $2, 'connected', now())`,
    [tenant, phoneNumberId],
  );
  await insert('wam_5', 'outbound', 'queued', 'conn_back');
  expect(
    await services.runtime.channels.sendQueuedMessage(services.organization.scope, 'wam_5'),
  ).toBe('sent');
});
