import type { Scope } from '@parley/contracts';
import { type Db, createDb, createSecretBox } from '@parley/db';
import {
  type KapsoServer,
  openTestDatabase,
  parseStateTable,
  seedOrganization,
  startKapsoServer,
} from '@parley/testing';
import { createAccounts } from '../accounts';
import { applyMessageStatus } from './apply-message-status';
import {
  claimMessage,
  findDueMessages,
  findNextMessage,
  findTenant,
  giveUp,
  markSent,
  noteDoubt,
  putBack,
  queueMessage,
} from './outbox';
import { sendMessage } from './send-message';

const phoneNumberId = '109876543210987';
const connectionId = 'conn_test';
const minuteMs = 60_000;

let db: Db;
let kapso: KapsoServer;
let scope: Scope;
beforeAll(async () => {
  db = await openTestDatabase(createDb);
  kapso = await startKapsoServer();
  ({ scope } = await seedOrganization(db.pool));
  await db.pool.query(
    `insert into channel_connections (id, tenant, environment, phone_number_id, status, updated_at)
     values ($1, $2, $3::"Environment", $4, 'connected', now())`,
    [connectionId, scope.tenant, scope.environment, phoneNumberId],
  );
});
afterEach(() => {
  expect(kapso.problems).toEqual([]);
  kapso.faults.length = 0;
  kapso.sent.length = 0;
  kapso.returnsHistory = true;
});
afterAll(async () => {
  await kapso.stop();
  await db.close();
});

let count = 0;
const newContact = () => `1415555${String((count += 1)).padStart(4, '0')}`;

/** Queues a message to a new contact. */
async function queue({
  contact = newContact(),
  key = `key-${(count += 1)}`,
  in: within = scope,
} = {}): Promise<string> {
  const text = `hello ${contact}`;
  const request = { to: contact, type: 'text', text: { body: text } };
  return (
    await queueMessage(db, within, { connectionId, contact, type: 'text', text, request, key })
  ).id;
}

interface Row {
  status: string;
  attempts: number;
  error: string | null;
  message_id: string | null;
  lease_owner: string | null;
  lease_until: Date | null;
}
const read = async (id: string) =>
  (await db.pool.query<Row>('select * from messages where id = $1', [id])).rows[0]!;
const set = (id: string, assignments: string) =>
  db.pool.query(`update messages set ${assignments} where id = $1`, [id]);
const leaseEnds = (id: string) => set(id, "lease_until = now() - interval '1 second'");
const claim = async (id: string, owner: string) =>
  claimMessage(db, { ...(await findTenant(db, id))!, id }, owner);
const own = (id: string) => ({ ...scope, id, connectionId });

/** Sends as one of several processes, "a" or "b". */
function send(id: string, owner = 'a', apiKey: string | null = kapso.apiKey) {
  const settings = {
    KAPSO_API_URL: kapso.url,
    ...(apiKey !== null && { KAPSO_API_KEY: apiKey }),
    RESEND_API_URL: kapso.url,
  };
  const accounts = createAccounts(
    db,
    createSecretBox(Buffer.alloc(32).toString('base64')),
    settings,
  );
  return sendMessage({ db, accounts, owner, log: { warn: () => {} } }, scope, id);
}

/**
 * Applies a status as the provider delivers it. `reference` is our id of the message, which some
 * deliveries contain.
 */
const deliver = (messageId: string, status: string, reference?: string) =>
  applyMessageStatus(db, scope, {
    connectionId,
    eventType: `whatsapp.message.${status}`,
    item: {
      message: {
        id: messageId,
        kapso: {
          status,
          statuses: [
            { status, ...(reference !== undefined && { biz_opaque_callback_data: reference }) },
          ],
        },
      },
    },
  });

/** Functions that bring a queued message into a state. "a" is its first sender. */
const states: Record<string, (id: string) => Promise<unknown>> = {
  queued: async () => {},
  waiting: async (id) => {
    await claim(id, 'a');
    await putBack(db, own(id), 'a', { error: 'slow down', afterMs: minuteMs, isTried: true });
  },
  'due again': async (id) => {
    await claim(id, 'a');
    await putBack(db, own(id), 'a', { error: 'slow down', afterMs: -1_000, isTried: true });
  },
  sending: (id) => claim(id, 'a'),
  expired: async (id) => {
    await claim(id, 'a');
    await leaseEnds(id);
  },
  reclaimed: async (id) => {
    await states.expired!(id);
    await claim(id, 'b');
  },
  sent: async (id) => {
    await claim(id, 'a');
    await markSent(db, own(id), `wamid.first-${id}`);
  },
  delivered: async (id) => {
    await states.sent!(id);
    await deliver(`wamid.first-${id}`, 'delivered');
  },
  'not delivered': async (id) => {
    await states.sent!(id);
    await deliver(`wamid.first-${id}`, 'failed');
  },
  refused: async (id) => {
    await claim(id, 'a');
    await giveUp(db, own(id), 'a', { status: 'failed', error: '400' });
  },
  unknown: async (id) => {
    await claim(id, 'a');
    await giveUp(db, own(id), 'a', { status: 'unknown', error: 'no answer' });
  },
};

/** Events of a message. The first four are results of "a", which may have lost the lease. */
const actions: Record<string, (id: string) => Promise<unknown>> = {
  'put back': (id) =>
    putBack(db, own(id), 'a', { error: 'slow down', afterMs: minuteMs, isTried: true }),
  doubt: (id) => noteDoubt(db, own(id), 'a', { error: 'no answer', isTried: true }),
  refusal: (id) => giveUp(db, own(id), 'a', { status: 'failed', error: '400' }),
  'no answer': (id) => giveUp(db, own(id), 'a', { status: 'unknown', error: 'no answer' }),
  'id known': (id) => markSent(db, own(id), `wamid.second-${id}`),
  claim: (id) => claim(id, 'c'),
  'same key': async (id) => {
    const { rows } = await db.pool.query(
      'select idempotency_key as key, contact from messages where id = $1',
      [id],
    );
    expect(await queue(rows[0])).toBe(id);
  },
};

/**
 * The status after an event; `-` if nothing changes. In `expired` the lease of "a" has expired; in
 * `reclaimed` "b" has it.
 */
const transitions = parseStateTable(`
  message       | put back | doubt   | refusal | no answer | id known | claim   | same key
  queued        | -        | -       | -       | -         | sent     | sending | -
  waiting       | -        | -       | -       | -         | sent     | -       | -
  due again     | -        | -       | -       | -         | sent     | sending | -
  sending       | queued   | sending | failed  | unknown   | sent     | -       | -
  expired       | queued   | sending | failed  | unknown   | sent     | sending | -
  reclaimed     | -        | -       | -       | -         | sent     | -       | -
  sent          | -        | -       | -       | -         | -        | -       | -
  delivered     | -        | -       | -       | -         | -        | -       | -
  not delivered | -        | -       | -       | -         | -        | -       | -
  refused       | -        | -       | -       | -         | failed   | -       | queued
  unknown       | -        | -       | -       | -         | sent     | -       | -
`);

describe.each(transitions)('a message in state $row', ({ row: state, cells }) => {
  const named = Object.entries(cells).map(
    ([action, after]) =>
      [action, after === '-' ? 'changes nothing' : `makes it ${after}`, after] as const,
  );
  test.each(named)('"%s" %s', async (action, _, after) => {
    const id = await queue();
    await states[state]!(id);
    const before = await read(id);
    await actions[action]!(id);
    const row = await read(id);
    if (after === '-') expect(row).toEqual(before);
    else {
      expect(row).not.toEqual(before);
      expect(row.status).toBe(after);
    }
    // A known id never changes.
    if (before.message_id !== null) expect(row.message_id).toBe(before.message_id);
  });
});

test('concurrent calls with one key create one message; keys of another environment are separate', async () => {
  const given = { contact: newContact(), key: 'same' };
  const ids = await Promise.all(Array.from({ length: 8 }, () => queue(given)));
  expect(new Set(ids).size).toBe(1);
  expect(await queue({ ...given, in: { ...scope, environment: 'production' } })).not.toBe(ids[0]);
});

test('a refused message is queued again with its full number of attempts by a call with the same key', async () => {
  const given = { contact: newContact(), key: 'refused' };
  const id = await queue(given);
  kapso.faults.push('refused');
  expect(await send(id)).toBe('failed');
  expect(await queue(given)).toBe(id);
  expect(await read(id)).toMatchObject({ status: 'queued', attempts: 0, error: null });
  expect(await send(id)).toBe('sent');
});

test.each(['queued', 'due again'])(
  'one of several concurrent senders sends a message in state %s',
  async (state) => {
    for (let round = 0; round < 5; round += 1) {
      const id = await queue();
      await states[state]!(id);
      const outcomes = await Promise.all(
        Array.from({ length: 8 }, (_, n) => send(id, `sender-${n}`)),
      );
      expect(outcomes.sort()).toEqual([...Array(7).fill('not_due'), 'sent']);
      expect(kapso.sent).toHaveLength(round + 1);
    }
  },
);

describe('sendMessage', () => {
  /**
   * Fault of the provider, outcome, status, wait until the next attempt in milliseconds
   * (null: none), error.
   */
  test.each([
    ['no fault', 'sent', 'sent', null, null],
    ['busy', 'later', 'queued', 1_000, '409: Another message is in flight'],
    ['limited', 'later', 'queued', 0, '429: Slow down'],
    ['broken', 'later', 'queued', 1_000, '503: Down'],
    ['broken_after', 'sent', 'sent', null, null],
    ['lost_after', 'sent', 'sent', null, null],
    ['lost_before', 'later', 'sending', 30_000, expect.any(String)],
    ['refused', 'failed', 'failed', null, '400: Message undeliverable'],
    ['window_closed', 'failed', 'failed', null, expect.stringMatching(/^window_closed: /)],
  ] as const)(
    'with fault "%s": the outcome is "%s", the status "%s"',
    async (fault, outcome, status, waitMs, error) => {
      if (fault !== 'no fault') kapso.faults.push(fault);
      const id = await queue();
      const fromMs = Date.now();
      expect(await send(id)).toBe(outcome);
      const row = await read(id);
      expect(row).toMatchObject({ status, error, attempts: 1 });
      if (waitMs === null) expect(row.lease_until).toBeNull();
      else expect(Math.abs(row.lease_until!.getTime() - fromMs - waitMs)).toBeLessThan(10_000);
      // The contact receives the message once in every case.
      if (outcome === 'later') {
        if (waitMs !== 0) expect(await send(id, 'b')).toBe('not_due');
        await leaseEnds(id);
        expect(await send(id, 'b')).toBe('sent');
      }
      expect(kapso.sent).toHaveLength(outcome === 'failed' ? 0 : 1);
    },
  );

  test('waits longer after each failed attempt, up to a minute', async () => {
    const id = await queue();
    for (const [attempts, waitMs] of [
      [5, 32_000],
      [6, 60_000],
      [18, 60_000],
    ] as const) {
      await set(id, `attempts = ${attempts}, lease_until = null`);
      kapso.faults.push('busy');
      const fromMs = Date.now();
      expect(await send(id)).toBe('later');
      expect(Math.abs((await read(id)).lease_until!.getTime() - fromMs - waitMs)).toBeLessThan(
        10_000,
      );
    }
  });

  test('ends as failed after 20 attempts if the message was certainly not sent', async () => {
    const id = await queue();
    await set(id, 'attempts = 19');
    kapso.faults.push('busy');
    expect(await send(id)).toBe('failed');
    expect(await read(id)).toMatchObject({ status: 'failed', attempts: 20, message_id: null });
    expect(kapso.sent).toEqual([]);
  });

  test('without an account, fails immediately, or leaves the message in sending if it may have been sent', async () => {
    const id = await queue();
    expect(await send(id, 'a', null)).toBe('failed');
    expect(await read(id)).toMatchObject({
      status: 'failed',
      error: expect.stringMatching(/^Kapso is not configured/),
    });
    const doubtful = await queue();
    await states.expired!(doubtful);
    expect(await send(doubtful, 'b', null)).toBe('later');
    expect(await read(doubtful)).toMatchObject({
      status: 'sending',
      attempts: 2,
      lease_owner: 'b',
    });
  });
});

describe('after a lease has expired before the answer was stored', () => {
  test('a message that the provider has is found in its history and not sent again', async () => {
    const id = await queue();
    expect(await claim(id, 'a')).toMatchObject({ previousStatus: 'queued', attempts: 1 });
    // "a" is killed after the provider has accepted the message.
    const { rows } = await db.pool.query('select payload from messages where id = $1', [id]);
    kapso.sent.push({ id: 'wamid.taken', phoneNumberId, body: rows[0].payload, atMs: Date.now() });
    expect(await send(id, 'b')).toBe('not_due');
    await leaseEnds(id);
    expect(await send(id, 'b')).toBe('sent');
    expect(await read(id)).toMatchObject({ status: 'sent', message_id: 'wamid.taken' });
    expect(kapso.sent).toHaveLength(1);
  });

  test('a message that the provider does not have is sent', async () => {
    const id = await queue();
    await states.expired!(id);
    expect(await send(id, 'b')).toBe('sent');
    expect(kapso.sent).toHaveLength(1);
  });

  test('a message ends as unknown if the history of the provider cannot be read, and is never sent twice', async () => {
    const given = { contact: newContact(), key: 'in-doubt' };
    const id = await queue(given);
    kapso.returnsHistory = false;
    kapso.faults.push('lost_after');
    for (let attempts = 1; attempts < 20; attempts += 1) {
      expect(await send(id, attempts % 2 ? 'a' : 'b')).toBe('later');
      expect(await read(id)).toMatchObject({ status: 'sending', attempts });
      await leaseEnds(id);
    }
    expect(await send(id, 'b')).toBe('unknown');
    expect(await read(id)).toMatchObject({ status: 'unknown', attempts: 20, lease_until: null });
    // Neither a late job nor the sweep nor the same call sends the message.
    kapso.returnsHistory = true;
    expect(await send(id)).toBe('not_due');
    expect(await findDueMessages(db, 1_000)).not.toContain(id);
    expect(await queue(given)).toBe(id);
    expect(await send(id)).toBe('not_due');
    expect(kapso.sent).toHaveLength(1);
    // A late status ends the uncertainty.
    await deliver(kapso.sent[0]!.id, 'delivered', id);
    expect(await read(id)).toMatchObject({
      status: 'delivered',
      message_id: kapso.sent[0]!.id,
      error: null,
    });
  });

  test('the searched period begins with the first unanswered attempt; an answered attempt begins a new period', async () => {
    const id = await queue();
    const first = (await claim(id, 'a'))!;
    expect(first.claimedUntil.getTime() - first.claimedFrom.getTime()).toBe(30_000);
    await set(id, "lease_until = now() - interval '1 minute'");
    const second = (await claim(id, 'b'))!;
    expect(second.previousStatus).toBe('sending');
    await set(id, "lease_until = now() - interval '10 seconds'");
    const third = (await claim(id, 'b'))!;
    expect(third.claimedFrom).toEqual(second.claimedFrom);
    expect(third.claimedUntil.getTime()).toBeGreaterThan(second.claimedUntil.getTime());
    await putBack(db, own(id), 'b', { error: '429', afterMs: -1_000, isTried: true });
    const fourth = (await claim(id, 'b'))!;
    expect(fourth).toMatchObject({ previousStatus: 'queued', attempts: 4 });
    expect(fourth.claimedUntil.getTime() - fourth.claimedFrom.getTime()).toBe(30_000);
  });

  test('an attempt is not counted if the provider was not called', async () => {
    const id = await queue();
    await claim(id, 'a');
    await putBack(db, own(id), 'a', { error: 'no slot', afterMs: minuteMs, isTried: false });
    expect(await read(id)).toMatchObject({ status: 'queued', attempts: 0, error: 'no slot' });
  });

  test('a late answer of the first sender counts: the message gets the id that is stored first', async () => {
    const id = await queue();
    await states.reclaimed!(id);
    await markSent(db, own(id), 'wamid.of-a');
    await putBack(db, own(id), 'b', { error: '429', afterMs: -1_000, isTried: true });
    await markSent(db, own(id), 'wamid.of-b');
    expect(await read(id)).toMatchObject({
      status: 'sent',
      message_id: 'wamid.of-a',
      lease_owner: null,
    });
    expect(await claim(id, 'c')).toBeNull();
  });
});

describe('messages to the same contact', () => {
  test('are sent in order: the second one waits until the first one is done', async () => {
    const contact = newContact();
    const [first, second, other] = [
      await queue({ contact }),
      await queue({ contact }),
      await queue(),
    ];
    expect(await claim(second, 'a')).toBeNull();
    expect(await claimMessage(db, { tenant: scope.tenant + 1, id: first }, 'a')).toBeNull();
    await states.waiting!(first);
    expect(await send(second)).toBe('not_due');
    await leaseEnds(first);
    await claim(first, 'a');
    expect(await send(second)).toBe('not_due');
    expect(await send(other)).toBe('sent');
    await markSent(db, own(first), `wamid.${first}`);
    expect(await findNextMessage(db, scope, first)).toBe(second);
    expect(await send(second)).toBe('sent');
    expect(await findNextMessage(db, scope, first)).toBeNull();
  });

  test.each(['refused', 'unknown', 'delivered'])(
    'are sent after an earlier message in state %s',
    async (state) => {
      const contact = newContact();
      const [first, second] = [await queue({ contact }), await queue({ contact })];
      await states[state]!(first);
      expect(await send(second)).toBe('sent');
    },
  );
});

test('the sweep finds due messages; new ones are left to their own job for two seconds', async () => {
  const ids: Record<string, string> = {};
  for (const [state, enter] of Object.entries(states)) await enter((ids[state] = await queue()));
  const found = async () =>
    (await findDueMessages(db, 1_000)).filter((id) => Object.values(ids).includes(id));
  const due = [ids['due again'], ids.expired];
  expect(await found()).toEqual(due);
  await set(ids.queued!, "created_at = now() - interval '3 seconds'");
  expect(await found()).toEqual([ids.queued, ...due]);
});

describe('findDueMessages with several tenants', () => {
  const few = ['wam_few1', 'wam_few2', 'wam_few3'];
  /** Adds messages that were queued an hour ago, to `contact` or each to a new contact. */
  const addMany = (
    { tenant }: Scope,
    prefix: string,
    number: number,
    contact: string | null = null,
  ) =>
    db.pool.query(
      `insert into messages (id, tenant, environment, connection_id, direction, contact, type, payload, status,
                             created_at, updated_at)
       select $2 || n, $1, 'production', $5, 'outbound', coalesce($4, $2 || n), 'text', '{}', 'queued',
              now() - interval '1 hour', now() from generate_series(1, $3::int) n`,
      [tenant, prefix, number, contact, connectionId],
    );
  let other: Scope;
  beforeAll(async () => void ({ scope: other } = await seedOrganization(db.pool)));
  beforeEach(() => db.pool.query('delete from messages'));

  test('finds messages of one tenant despite the backlog of another tenant; each message is claimed once', async () => {
    await addMany(scope, 'wam_many', 5_000);
    await addMany(other, 'wam_few', 3);
    const sweeps = await Promise.all(
      ['a', 'b'].map(async (owner) => ({ owner, ids: await findDueMessages(db, 50) })),
    );
    for (const { ids } of sweeps) {
      expect(ids).toHaveLength(50);
      expect(new Set(ids).size).toBe(50);
      expect(ids).toEqual(expect.arrayContaining(few));
    }
    const claims = await Promise.all(
      sweeps.flatMap(({ owner, ids }) => ids.map((id) => claim(id, owner))),
    );
    const claimed = claims.flatMap((message) => message?.id ?? []);
    expect(claimed.sort()).toEqual([...new Set(sweeps.flatMap(({ ids }) => ids))].sort());
  });

  test('finds messages of one tenant although all messages of another tenant wait for an earlier message', async () => {
    await addMany(scope, 'wam_many', 5_000, 'one contact');
    await set('wam_many1', "lease_until = now() + interval '1 minute'");
    await addMany(other, 'wam_few', 3);
    expect(await findDueMessages(db, 50)).toEqual(few);
    await leaseEnds('wam_many1');
    expect(await findDueMessages(db, 50)).toEqual(['wam_many1', ...few]);
  });
});

describe('statuses', () => {
  const all = ['sent', 'delivered', 'read', 'failed'];
  /** Every permutation of every subset. */
  const orders = (rest: string[]): string[][] => [
    [],
    ...rest.flatMap((first) =>
      orders(rest.filter((one) => one !== first)).map((others) => [first, ...others]),
    ),
  ];
  const highest = (given: string[]) => all.findLast((status) => given.includes(status)) ?? 'sent';

  test.each(['between two statuses', 'by the reference of a status'])(
    'lead to the same state in every order, when the id becomes known %s',
    async (naming) => {
      for (const order of orders(all)) {
        for (let at = 0; at <= order.length; at += 1) {
          const id = await queue();
          await claim(id, 'a');
          const messageId = `wamid.${id}`;
          for (const [index, status] of [...order.entries(), [order.length, null] as const]) {
            const isNamed = index === at;
            if (isNamed && (naming !== 'by the reference of a status' || status === null))
              await markSent(db, own(id), messageId);
            if (status !== null)
              await deliver(
                messageId,
                status,
                isNamed && naming === 'by the reference of a status' ? id : undefined,
              );
          }
          const { status, message_id } = await read(id);
          expect({ order, at, status, message_id }).toEqual({
            order,
            at,
            status: highest(order),
            message_id: messageId,
          });
        }
      }
    },
  );

  test('that arrive concurrently with the answer lead to the status of the highest rank', async () => {
    for (let round = 0; round < 25; round += 1) {
      const id = await queue();
      await claim(id, 'a');
      const messageId = `wamid.${id}`;
      const given = round % 2 ? all : ['sent', 'delivered', 'read'];
      await Promise.all([
        ...given.map((status) => deliver(messageId, status)),
        markSent(db, own(id), messageId),
        ...given.map((status) => deliver(messageId, status)),
      ]);
      expect(await read(id)).toMatchObject({ status: highest(given), message_id: messageId });
    }
  });

  test('that are repeated or late change nothing; a failure keeps its reason', async () => {
    const id = await queue();
    await states['not delivered']!(id);
    const before = await read(id);
    expect(before).toMatchObject({ status: 'failed', error: 'the provider gave no reason' });
    for (const status of [...all, ...all]) {
      expect(await deliver(`wamid.first-${id}`, status)).toEqual({ ok: true, isKnown: true });
      expect(await read(id)).toEqual(before);
    }
  });

  test('are stored until the id of the message is known, separately per connection', async () => {
    const id = await queue();
    await claim(id, 'a');
    const messageId = `wamid.${id}`;
    expect(await deliver(messageId, 'read')).toEqual({ ok: true, isKnown: false });
    await db.pool.query(
      `insert into provider_statuses (provider, external_id, status, rank) values ('kapso', $1, 'failed', 4)`,
      [`conn_other:${messageId}`],
    );
    expect(await read(id)).toMatchObject({ status: 'sending', message_id: null });
    await markSent(db, own(id), messageId);
    expect(await read(id)).toMatchObject({ status: 'read', message_id: messageId });
  });
});
