import type { Scope } from '@parley/contracts';
import { type Db, createDb, createSecretBox } from '@parley/db';
import {
  type KapsoServer,
  type TestDatabase,
  createTestDatabase,
  readTable,
  seedOrganization,
  startKapsoServer,
} from '@parley/testing';
import { createAccounts } from '../accounts';
import { applyMessageStatus } from './apply-status';
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

let database: TestDatabase;
let db: Db;
let kapso: KapsoServer;
let scope: Scope;
beforeAll(async () => {
  database = await createTestDatabase();
  db = createDb({ databaseUrl: database.url });
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
  kapso.tellsHistory = true;
});
afterAll(async () => {
  await kapso.stop();
  await db.close();
  await database.drop();
});

let count = 0;
const newContact = () => `1415555${String((count += 1)).padStart(4, '0')}`;

/** Puts a message to a contact of its own into the outbox. */
async function queue({
  contact = newContact(),
  key = `key-${(count += 1)}`,
  in: within = scope,
} = {}): Promise<string> {
  const text = `hello ${contact}`;
  const request = { to: contact, type: 'text', text: { body: text } };
  return (await queueMessage(db, within, { connectionId, contact, type: 'text', text, request, key })).id;
}

interface Row {
  status: string;
  attempts: number;
  error: string | null;
  message_id: string | null;
  lease_owner: string | null;
  lease_until: Date | null;
}
const read = async (id: string) => (await db.pool.query<Row>('select * from messages where id = $1', [id])).rows[0]!;
const set = (id: string, assignments: string) =>
  db.pool.query(`update messages set ${assignments} where id = $1`, [id]);
const leaseEnds = (id: string) => set(id, "lease_until = now() - interval '1 second'");
const claim = async (id: string, owner: string) => claimMessage(db, { ...(await findTenant(db, id))!, id }, owner);
const own = (id: string) => ({ ...scope, id, connectionId });

/** Sends as one of several processes; "a" and "b" in these tests. */
function send(id: string, owner = 'a', apiKey: string | null = kapso.apiKey) {
  const settings = {
    KAPSO_API_URL: kapso.url,
    ...(apiKey !== null && { KAPSO_API_KEY: apiKey }),
    RESEND_API_URL: kapso.url,
  };
  const accounts = createAccounts(db, createSecretBox(Buffer.alloc(32).toString('base64')), settings);
  return sendMessage({ db, accounts, owner, log: { warn: () => {} } }, scope, id);
}

/** A status as the provider delivers it; `reference`: the message's id, which some deliveries carry. */
const deliver = (messageId: string, status: string, reference?: string) =>
  applyMessageStatus(db, scope, {
    connectionId,
    eventType: `whatsapp.message.${status}`,
    item: {
      message: {
        id: messageId,
        kapso: {
          status,
          statuses: [{ status, ...(reference !== undefined && { biz_opaque_callback_data: reference }) }],
        },
      },
    },
  });

/** Each brings a message that "a" has claimed or left into a state. */
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
  silent: async (id) => {
    await claim(id, 'a');
    await leaseEnds(id);
  },
  'taken over': async (id) => {
    await states.silent!(id);
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

/** What happens to a message. All but the last three are done by "a", who may have lost it. */
const actions: Record<string, (id: string) => Promise<unknown>> = {
  'put back': (id) => putBack(db, own(id), 'a', { error: 'slow down', afterMs: minuteMs, isTried: true }),
  doubt: (id) => noteDoubt(db, own(id), 'a', { error: 'no answer', isTried: true }),
  refusal: (id) => giveUp(db, own(id), 'a', { status: 'failed', error: '400' }),
  'no answer': (id) => giveUp(db, own(id), 'a', { status: 'unknown', error: 'no answer' }),
  'id known': (id) => markSent(db, own(id), `wamid.second-${id}`),
  claim: (id) => claim(id, 'c'),
  'same key': async (id) => {
    const { rows } = await db.pool.query('select idempotency_key as key, contact from messages where id = $1', [id]);
    expect(await queue(rows[0])).toBe(id);
  },
};

/** In each cell the status that follows; `-` changes nothing. A silent message is that of a sender whose lease is over. */
const transitions = readTable(`
  message       | put back | doubt   | refusal | no answer | id known | claim   | same key
  queued        | -        | -       | -       | -         | sent     | sending | -
  waiting       | -        | -       | -       | -         | sent     | -       | -
  due again     | -        | -       | -       | -         | sent     | sending | -
  sending       | queued   | sending | failed  | unknown   | sent     | -       | -
  silent        | queued   | sending | failed  | unknown   | sent     | sending | -
  taken over    | -        | -       | -       | -         | sent     | -       | -
  sent          | -        | -       | -       | -         | -        | -       | -
  delivered     | -        | -       | -       | -         | -        | -       | -
  not delivered | -        | -       | -       | -         | -        | -       | -
  refused       | -        | -       | -       | -         | failed   | -       | queued
  unknown       | -        | -       | -       | -         | sent     | -       | -
`);

describe.each(transitions)('of a message that is $row', ({ row: state, cells }) => {
  const named = Object.entries(cells).map(
    ([action, after]) => [action, after === '-' ? 'changes nothing' : `makes it ${after}`, after] as const,
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
    // An id, once known, stays.
    if (before.message_id !== null) expect(row.message_id).toBe(before.message_id);
  });
});

test('the same key makes one message, however often and at once, and another environment has keys of its own', async () => {
  const given = { contact: newContact(), key: 'same' };
  const ids = await Promise.all(Array.from({ length: 8 }, () => queue(given)));
  expect(new Set(ids).size).toBe(1);
  expect(await queue({ ...given, in: { ...scope, environment: 'production' } })).not.toBe(ids[0]);
});

test('a message that was refused gets all of its tries again under its key', async () => {
  const given = { contact: newContact(), key: 'refused' };
  const id = await queue(given);
  kapso.faults.push('refused');
  expect(await send(id)).toBe('failed');
  expect(await queue(given)).toBe(id);
  expect(await read(id)).toMatchObject({ status: 'queued', attempts: 0, error: null });
  expect(await send(id)).toBe('sent');
});

test.each(['queued', 'due again'])('of several senders of a message that is %s one sends it', async (state) => {
  for (let round = 0; round < 5; round += 1) {
    const id = await queue();
    await states[state]!(id);
    const outcomes = await Promise.all(Array.from({ length: 8 }, (_, n) => send(id, `sender-${n}`)));
    expect(outcomes.sort()).toEqual([...Array(7).fill('not_due'), 'sent']);
    expect(kapso.sent).toHaveLength(round + 1);
  }
});

describe('a message goes to the provider', () => {
  /** What the provider does with it, and what follows; the wait until the next try in milliseconds, null for none. */
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
    'which answers "%s": the outcome is "%s", the status "%s"',
    async (fault, outcome, status, waitMs, error) => {
      if (fault !== 'no fault') kapso.faults.push(fault);
      const id = await queue();
      const fromMs = Date.now();
      expect(await send(id)).toBe(outcome);
      const row = await read(id);
      expect(row).toMatchObject({ status, error, attempts: 1 });
      if (waitMs === null) expect(row.lease_until).toBeNull();
      else expect(Math.abs(row.lease_until!.getTime() - fromMs - waitMs)).toBeLessThan(10_000);
      // Whatever the answer was, the customer gets it once.
      if (outcome === 'later') {
        if (waitMs !== 0) expect(await send(id, 'b')).toBe('not_due');
        await leaseEnds(id);
        expect(await send(id, 'b')).toBe('sent');
      }
      expect(kapso.sent).toHaveLength(outcome === 'failed' ? 0 : 1);
    },
  );

  test('and each try that fails waits longer than the one before it, up to a minute', async () => {
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
      expect(Math.abs((await read(id)).lease_until!.getTime() - fromMs - waitMs)).toBeLessThan(10_000);
    }
  });

  test('and is failed after 20 tries when it is certain that it was not sent', async () => {
    const id = await queue();
    await set(id, 'attempts = 19');
    kapso.faults.push('busy');
    expect(await send(id)).toBe('failed');
    expect(await read(id)).toMatchObject({ status: 'failed', attempts: 20, message_id: null });
    expect(kapso.sent).toEqual([]);
  });

  test('and without an account it fails at once, or stays in doubt when it may have been sent', async () => {
    const id = await queue();
    expect(await send(id, 'a', null)).toBe('failed');
    expect(await read(id)).toMatchObject({
      status: 'failed',
      error: expect.stringMatching(/^Kapso is not configured/),
    });
    const doubtful = await queue();
    await states.silent!(doubtful);
    expect(await send(doubtful, 'b', null)).toBe('later');
    expect(await read(doubtful)).toMatchObject({ status: 'sending', attempts: 2, lease_owner: 'b' });
  });
});

describe('a lease that ends before the answer is stored', () => {
  test('is followed by a look at what the provider has, and the message is not sent again', async () => {
    const id = await queue();
    expect(await claim(id, 'a')).toMatchObject({ before: 'queued', attempts: 1 });
    // "a" is killed after the provider has taken it.
    const { rows } = await db.pool.query('select payload from messages where id = $1', [id]);
    kapso.sent.push({ id: 'wamid.taken', phoneNumberId, body: rows[0].payload, atMs: Date.now() });
    expect(await send(id, 'b')).toBe('not_due');
    await leaseEnds(id);
    expect(await send(id, 'b')).toBe('sent');
    expect(await read(id)).toMatchObject({ status: 'sent', message_id: 'wamid.taken' });
    expect(kapso.sent).toHaveLength(1);
  });

  test('is followed by another try when the provider has not got it', async () => {
    const id = await queue();
    await states.silent!(id);
    expect(await send(id, 'b')).toBe('sent');
    expect(kapso.sent).toHaveLength(1);
  });

  test('ends as unknown when nobody can tell, and the message is never sent twice', async () => {
    const given = { contact: newContact(), key: 'in-doubt' };
    const id = await queue(given);
    kapso.tellsHistory = false;
    kapso.faults.push('lost_after');
    for (let attempts = 1; attempts < 20; attempts += 1) {
      expect(await send(id, attempts % 2 ? 'a' : 'b')).toBe('later');
      expect(await read(id)).toMatchObject({ status: 'sending', attempts });
      await leaseEnds(id);
    }
    expect(await send(id, 'b')).toBe('unknown');
    expect(await read(id)).toMatchObject({ status: 'unknown', attempts: 20, lease_until: null });
    // Neither a job that comes late, nor the sweep, nor the same call sends it.
    kapso.tellsHistory = true;
    expect(await send(id)).toBe('not_due');
    expect(await findDueMessages(db, 1_000)).not.toContain(id);
    expect(await queue(given)).toBe(id);
    expect(await send(id)).toBe('not_due');
    expect(kapso.sent).toHaveLength(1);
    // A late status resolves it.
    await deliver(kapso.sent[0]!.id, 'delivered', id);
    expect(await read(id)).toMatchObject({ status: 'delivered', message_id: kapso.sent[0]!.id, error: null });
  });

  test('keeps the stretch of the first try in doubt, and a try that was answered begins a new one', async () => {
    const id = await queue();
    const first = (await claim(id, 'a'))!;
    expect(first.claimedUntil.getTime() - first.claimedFrom.getTime()).toBe(30_000);
    await set(id, "lease_until = now() - interval '1 minute'");
    const second = (await claim(id, 'b'))!;
    expect(second.before).toBe('sending');
    await set(id, "lease_until = now() - interval '10 seconds'");
    const third = (await claim(id, 'b'))!;
    expect(third.claimedFrom).toEqual(second.claimedFrom);
    expect(third.claimedUntil.getTime()).toBeGreaterThan(second.claimedUntil.getTime());
    await putBack(db, own(id), 'b', { error: '429', afterMs: -1_000, isTried: true });
    const fourth = (await claim(id, 'b'))!;
    expect(fourth).toMatchObject({ before: 'queued', attempts: 4 });
    expect(fourth.claimedUntil.getTime() - fourth.claimedFrom.getTime()).toBe(30_000);
  });

  test('counts no try when the provider was not asked', async () => {
    const id = await queue();
    await claim(id, 'a');
    await putBack(db, own(id), 'a', { error: 'no place', afterMs: minuteMs, isTried: false });
    expect(await read(id)).toMatchObject({ status: 'queued', attempts: 0, error: 'no place' });
  });

  test('takes nothing from a sender whose answer comes after all: the message gets the id of the first that is stored', async () => {
    const id = await queue();
    await states['taken over']!(id);
    await markSent(db, own(id), 'wamid.of-a');
    await putBack(db, own(id), 'b', { error: '429', afterMs: -1_000, isTried: true });
    await markSent(db, own(id), 'wamid.of-b');
    expect(await read(id)).toMatchObject({ status: 'sent', message_id: 'wamid.of-a', lease_owner: null });
    expect(await claim(id, 'c')).toBeNull();
  });
});

describe('messages to the same contact', () => {
  test('are sent in order: the second waits until the first is done', async () => {
    const contact = newContact();
    const [first, second, other] = [await queue({ contact }), await queue({ contact }), await queue()];
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

  test.each(['refused', 'unknown', 'delivered'])('go on behind one that is %s', async (state) => {
    const contact = newContact();
    const [first, second] = [await queue({ contact }), await queue({ contact })];
    await states[state]!(first);
    expect(await send(second)).toBe('sent');
  });
});

test('the sweep finds what should be sent by now: what is new is left to its own job for two seconds', async () => {
  const ids: Record<string, string> = {};
  for (const [state, enter] of Object.entries(states)) await enter((ids[state] = await queue()));
  const found = async () => (await findDueMessages(db, 1_000)).filter((id) => Object.values(ids).includes(id));
  const due = [ids['due again'], ids.silent];
  expect(await found()).toEqual(due);
  await set(ids.queued!, "created_at = now() - interval '3 seconds'");
  expect(await found()).toEqual([ids.queued, ...due]);
});

describe('the sweep over tenants', () => {
  const few = ['wam_few1', 'wam_few2', 'wam_few3'];
  /** Messages of an hour ago, each to a contact of its own unless `contact` is given. */
  const addMany = ({ tenant }: Scope, prefix: string, number: number, contact: string | null = null) =>
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

  test('finds messages of one behind the backlog of another at once; each is claimed once', async () => {
    await addMany(scope, 'wam_many', 5_000);
    await addMany(other, 'wam_few', 3);
    const sweeps = await Promise.all(['a', 'b'].map(async (owner) => ({ owner, ids: await findDueMessages(db, 50) })));
    for (const { ids } of sweeps) {
      expect(ids).toHaveLength(50);
      expect(new Set(ids).size).toBe(50);
      expect(ids).toEqual(expect.arrayContaining(few));
    }
    const claims = await Promise.all(sweeps.flatMap(({ owner, ids }) => ids.map((id) => claim(id, owner))));
    const claimed = claims.flatMap((message) => message?.id ?? []);
    expect(claimed.sort()).toEqual([...new Set(sweeps.flatMap(({ ids }) => ids))].sort());
  });

  test('finds messages behind those of another that all wait for an earlier one', async () => {
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
  /** Every order of every selection. */
  const orders = (rest: string[]): string[][] => [
    [],
    ...rest.flatMap((first) => orders(rest.filter((one) => one !== first)).map((others) => [first, ...others])),
  ];
  const furthest = (given: string[]) => all.findLast((status) => given.includes(status)) ?? 'sent';

  test.each(['at any moment between them', 'by one of them'])(
    'end in the same state in every order, when the message is named %s',
    async (naming) => {
      for (const order of orders(all)) {
        for (let at = 0; at <= order.length; at += 1) {
          const id = await queue();
          await claim(id, 'a');
          const messageId = `wamid.${id}`;
          for (const [index, status] of [...order.entries(), [order.length, null] as const]) {
            const isNamed = index === at;
            if (isNamed && (naming !== 'by one of them' || status === null)) await markSent(db, own(id), messageId);
            if (status !== null)
              await deliver(messageId, status, isNamed && naming === 'by one of them' ? id : undefined);
          }
          const { status, message_id } = await read(id);
          expect({ order, at, status, message_id }).toEqual({
            order,
            at,
            status: furthest(order),
            message_id: messageId,
          });
        }
      }
    },
  );

  test('that come at once, while the answer is stored, end in the furthest', async () => {
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
      expect(await read(id)).toMatchObject({ status: furthest(given), message_id: messageId });
    }
  });

  test('that come twice or late change nothing, and a failure keeps its reason', async () => {
    const id = await queue();
    await states['not delivered']!(id);
    const before = await read(id);
    expect(before).toMatchObject({ status: 'failed', error: 'the provider gave no reason' });
    for (const status of [...all, ...all]) {
      expect(await deliver(`wamid.first-${id}`, status)).toEqual({ ok: true, isKnown: true });
      expect(await read(id)).toEqual(before);
    }
  });

  test('are kept until the message is named, under its connection alone', async () => {
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
