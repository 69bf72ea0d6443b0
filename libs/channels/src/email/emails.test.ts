import type { JsonObject, Scope } from '@parley/contracts';
import { type Db, createDb, createSecretBox } from '@parley/db';
import {
  type ResendServer,
  openTestDatabase,
  parseStateTable,
  seedOrganization,
  startResendServer,
} from '@parley/testing';
import { createAccounts } from '../accounts';
import { findTenant } from '../whatsapp/outbox';
import { applyEmailStatus, findDueEmails, queueEmail, readEmail, sendEmail } from './emails';
import { listEmails } from './read-emails';

const from = 'Acme <hello@acme.example>';

let db: Db;
let resend: ResendServer;
let scope: Scope;
beforeAll(async () => {
  db = await openTestDatabase(createDb);
  resend = await startResendServer();
  ({ scope } = await seedOrganization(db.pool));
});
afterEach(() => {
  expect(resend.problems).toEqual([]);
  resend.faults.length = 0;
  resend.sent.length = 0;
});
afterAll(async () => {
  await resend.stop();
  await db.close();
});

let count = 0;
async function queue({ key = `key-${(count += 1)}`, in: within = scope } = {}): Promise<string> {
  const subject = 'Hello';
  const request = { from, to: ['a@b.example'], subject, text: 'How are you?' };
  return (await queueEmail(db, within, { from, to: ['a@b.example'], subject, request, key })).id;
}

interface Row {
  status: string;
  attempts: number;
  error: string | null;
  provider_id: string | null;
  payload: unknown;
  lease_owner: string | null;
  lease_until: Date | null;
  updated_at: Date;
}
const read = async (id: string) =>
  (await db.pool.query<Row>('select * from emails where id = $1', [id])).rows[0]!;
const set = (id: string, assignments: string) =>
  db.pool.query(`update emails set ${assignments} where id = $1`, [id]);
const leaseEnds = (id: string) => set(id, "lease_until = now() - interval '1 second'");
const sentAs = (id: string) => resend.sent.filter(({ key }) => key === id);

async function send(id: string, owner = 'a', apiKey: string | null = resend.apiKey) {
  const settings = {
    KAPSO_API_URL: resend.url,
    RESEND_API_URL: resend.url,
    ...(apiKey !== null && { RESEND_API_KEY: apiKey }),
  };
  const accounts = createAccounts(
    db,
    createSecretBox(Buffer.alloc(32).toString('base64')),
    settings,
  );
  return sendEmail({ db, accounts, owner }, (await findTenant(db, id))!, id);
}
const deliver = (providerId: string, status: string) =>
  applyEmailStatus(db, { type: `email.${status}`, data: { email_id: providerId } });

/** Functions that bring a queued e-mail into a state. */
const states: Record<string, (id: string) => Promise<unknown>> = {
  queued: async () => {},
  waiting: (id) => fails(id, 'broken'),
  'due again': async (id) => {
    await fails(id, 'limited');
    await leaseEnds(id);
  },
  // `sending`: another process is sending it. `expired`: that process was killed.
  sending: (id) =>
    set(
      id,
      "status = 'sending', attempts = 1, lease_owner = 'b', lease_until = now() + interval '30 s'",
    ),
  expired: (id) =>
    set(
      id,
      "status = 'sending', attempts = 1, lease_owner = 'b', lease_until = now() - interval '1 s'",
    ),
  sent: (id) => send(id),
  bounced: async (id) => {
    await send(id);
    await deliver(sentAs(id)[0]!.id, 'bounced');
  },
  refused: (id) => send(id, 'a', 'wrong-key'),
  unknown: async (id) => {
    await set(id, 'attempts = 7');
    await fails(id, 'lost_after');
  },
};
async function fails(id: string, fault: ResendServer['faults'][number]): Promise<void> {
  resend.faults.push(fault);
  await send(id);
}

/**
 * The status after an attempt to send, and after a second e-mail with the same key. `-`:
 * nothing changes.
 */
const transitions = parseStateTable(`
  e-mail    | send | same key
  queued    | sent | -
  waiting   | -    | -
  due again | sent | -
  sending   | -    | -
  expired   | sent | -
  sent      | -    | -
  bounced   | -    | -
  refused   | -    | queued
  unknown   | -    | -
`);

describe.each(transitions)('an e-mail in state $row', ({ row: state, cells }) => {
  const named = Object.entries(cells).map(
    ([action, after]) =>
      [action, after === '-' ? 'changes nothing' : `makes it ${after}`, after] as const,
  );
  test.each(named)('"%s" %s', async (action, _, after) => {
    const given = { key: `key-of-${state}-${action}` };
    const id = await queue(given);
    await states[state]!(id);
    const before = await read(id);
    if (action === 'send') expect(await send(id, 'c')).toBe(after === '-' ? 'not_due' : after);
    else expect(await queue(given)).toBe(id);
    const row = await read(id);
    if (after === '-') expect(row).toMatchObject({ ...before, updated_at: expect.any(Date) });
    else
      expect(row).toMatchObject({
        status: after,
        error: null,
        lease_owner: null,
        attempts: after === 'sent' ? before.attempts + 1 : 0,
      });
    expect(sentAs(id).length).toBeLessThanOrEqual(1);
  });
});

test('concurrent calls with one key create one e-mail; keys of another environment are separate', async () => {
  const ids = await Promise.all(Array.from({ length: 8 }, () => queue({ key: 'same' })));
  expect(new Set(ids).size).toBe(1);
  expect(await queue({ key: 'same', in: { ...scope, environment: 'production' } })).not.toBe(
    ids[0],
  );
});

test.each(['queued', 'due again', 'expired'])(
  'one of several concurrent senders sends an e-mail in state %s',
  async (state) => {
    for (let round = 0; round < 5; round += 1) {
      const id = await queue();
      await states[state]!(id);
      const outcomes = await Promise.all(
        Array.from({ length: 8 }, (_, n) => send(id, `sender-${n}`)),
      );
      expect(outcomes.sort()).toEqual([...Array(7).fill('not_due'), 'sent']);
      expect(sentAs(id)).toHaveLength(1);
    }
  },
);

test('a sent e-mail has the id of the provider, and its content is deleted', async () => {
  const id = await queue();
  expect(await send(id)).toBe('sent');
  expect(resend.sent).toMatchObject([{ key: id, body: { from, subject: 'Hello' } }]);
  expect(await read(id)).toMatchObject({ status: 'sent', payload: null, lease_until: null });
  expect(await readEmail(db, scope, id)).toEqual({
    id,
    status: 'sent',
    error: null,
    providerId: resend.sent[0]!.id,
  });
  expect(await readEmail(db, { ...scope, environment: 'production' }, id)).toBeNull();
});

test('the e-mails of an environment are listed newest first, in pages, and may be filtered by status', async () => {
  const { scope: within } = await seedOrganization(db.pool);
  const ids: string[] = [];
  for (const minutes of [3, 2, 1]) {
    const id = await queue({ in: within });
    await set(id, `created_at = now() - interval '${minutes} minutes'`);
    ids.unshift(id);
  }
  await send(ids[0]!);
  const list = async (page: Parameters<typeof listEmails>[2], of = within) =>
    (await listEmails(db, of, page)).items;
  const first = await list({ limit: 2, before: null });
  expect(first).toEqual([
    {
      id: ids[0],
      providerId: sentAs(ids[0]!)[0]!.id,
      to: ['a@b.example'],
      subject: 'Hello',
      status: 'sent',
      attempts: 1,
      error: null,
      createdAt: expect.any(Date),
    },
    expect.objectContaining({ id: ids[1], providerId: null, status: 'queued', attempts: 0 }),
  ]);
  const idsOf = (emails: { id: string }[]) => emails.map(({ id }) => id);
  const before = { at: first[1]!.createdAt, id: first[1]!.id };
  expect(idsOf(await list({ limit: 2, before }))).toEqual([ids[2]]);
  expect(idsOf(await list({ limit: 9, before: null, status: 'queued' }))).toEqual(ids.slice(1));
  expect(await list({ limit: 9, before: null }, { ...within, environment: 'production' })).toEqual(
    [],
  );
});

describe('a failed attempt to send an e-mail', () => {
  test.each([
    ['limited', 0, '429: rate_limit_exceeded Slow down'],
    ['broken', 1_000, '500: application_error Down'],
    ['lost_after', 1_000, expect.any(String)],
  ] as const)(
    'with fault "%s" is repeated later under the same key, and the e-mail is sent once',
    async (fault, waitMs, error) => {
      resend.faults.push(fault);
      const id = await queue();
      expect(await send(id)).toBe('later');
      const row = await read(id);
      expect(row).toMatchObject({ status: 'queued', attempts: 1, error, lease_owner: null });
      expect(row.lease_until!.getTime() - row.updated_at.getTime()).toBe(waitMs);
      await leaseEnds(id);
      expect(await send(id, 'b')).toBe('sent');
      expect(sentAs(id)).toHaveLength(1);
      expect(await read(id)).toMatchObject({
        status: 'sent',
        attempts: 2,
        error: null,
        provider_id: sentAs(id)[0]!.id,
      });
    },
  );

  test('waits longer after each attempt', async () => {
    const id = await queue();
    for (const [attempts, waitMs] of [
      [4, 16_000],
      [6, 64_000],
    ] as const) {
      await set(id, `attempts = ${attempts}, lease_until = null`);
      resend.faults.push('broken');
      const fromMs = Date.now();
      expect(await send(id)).toBe('later');
      expect(Math.abs((await read(id)).lease_until!.getTime() - fromMs - waitMs)).toBeLessThan(
        10_000,
      );
    }
  });

  test.each([
    ['broken', 'failed'],
    ['lost_after', 'unknown'],
  ] as const)('with fault "%s" at the eighth attempt ends as %s', async (fault, status) => {
    const id = await queue();
    await set(id, 'attempts = 7');
    resend.faults.push(fault);
    expect(await send(id)).toBe(status);
    expect(await read(id)).toMatchObject({
      status,
      attempts: 8,
      lease_owner: null,
      lease_until: null,
    });
    expect(await send(id)).toBe('not_due');
  });

  test('because of a refusal or a missing account ends as failed immediately, with the reason', async () => {
    const refused = await queue();
    expect(await send(refused, 'a', 'wrong-key')).toBe('failed');
    expect(await read(refused)).toMatchObject({
      attempts: 1,
      error: '401: invalid_api_key API key is invalid',
    });
    const unconfigured = await queue();
    expect(await send(unconfigured, 'a', null)).toBe('failed');
    expect((await read(unconfigured)).error).toMatch(/^Resend is not configured/);
    // An earlier attempt may have succeeded.
    const doubtful = await queue();
    await states.expired!(doubtful);
    expect(await send(doubtful, 'a', null)).toBe('unknown');
  });

  test('because its sender was killed is repeated under the same key, and the provider sends the e-mail once', async () => {
    const id = await queue();
    resend.faults.push('lost_after');
    await send(id);
    // The state after "a" was killed before it stored the answer.
    await states.expired!(id);
    expect(await send(id, 'b')).toBe('sent');
    expect(sentAs(id)).toHaveLength(1);
    expect((await read(id)).provider_id).toBe(sentAs(id)[0]!.id);
  });

  test('is not repeated after the provider has dropped the key: the e-mail ends as unknown', async () => {
    const id = await queue();
    await states.expired!(id);
    await set(id, "created_at = now() - interval '24 hours'");
    expect(await send(id)).toBe('unknown');
    expect(await read(id)).toMatchObject({ status: 'unknown', error: 'no answer within a day' });
    expect(sentAs(id)).toEqual([]);
    // An e-mail without an earlier attempt is sent.
    const waiting = await queue();
    await set(waiting, "created_at = now() - interval '24 hours'");
    expect(await send(waiting)).toBe('sent');
  });
});

test.each([
  ['failed', 1, '1 hour', 'queued'],
  ['failed', 8, '1 hour', 'queued'],
  ['failed', 1, '24 hours', 'queued'],
  ['failed', 8, '24 hours', 'failed'],
  ['unknown', 8, '1 hour', 'unknown'],
])(
  'an e-mail with status %s, %s attempts and an age of %s has status %s after a call with the same key',
  async (status, attempts, age, after) => {
    const given = { key: `requeue-${(count += 1)}` };
    const id = await queue(given);
    await set(
      id,
      `status = '${status}', attempts = ${attempts}, error = 'x', created_at = now() - interval '${age}'`,
    );
    expect(await queue(given)).toBe(id);
    const isRequeued = after === 'queued';
    expect(await read(id)).toMatchObject({
      status: after,
      attempts: isRequeued ? 0 : attempts,
      error: isRequeued ? null : 'x',
    });
  },
);

test('the sweep finds due e-mails; new ones are left to the call that queued them for two seconds', async () => {
  const ids: Record<string, string> = {};
  for (const [state, enter] of Object.entries(states)) await enter((ids[state] = await queue()));
  const found = async () =>
    (await findDueEmails(db, 1_000)).filter((id) => Object.values(ids).includes(id));
  const due = [ids['due again'], ids.expired];
  expect(await found()).toEqual(due);
  await set(ids.queued!, "created_at = now() - interval '3 seconds'");
  expect(await found()).toEqual([ids.queued, ...due]);
});

test('the sweep finds e-mails of one tenant despite the backlog of another; each is sent once', async () => {
  await db.pool.query('delete from emails');
  const addMany = (prefix: string, { tenant }: Scope, number: number) =>
    db.pool.query(
      `insert into emails (id, tenant, environment, idempotency_key, "from", "to", subject, status, payload,
                           created_at, updated_at)
       select $1 || n, $3, 'production', n::text, 'a@example.com', '{b@example.com}', 'hello', 'queued',
              '{"from":"a@example.com","to":["b@example.com"],"subject":"hello","text":"hello"}',
              now() - interval '1 hour', now() from generate_series(1, $2::int) n`,
      [prefix, number, tenant],
    );
  await addMany('many', scope, 5_000);
  await addMany('few', (await seedOrganization(db.pool)).scope, 3);
  await db.pool.query(
    "update emails set lease_until = now() + interval '1 hour' where id = 'few2'",
  );
  const [ids = [], others = []] = await Promise.all([findDueEmails(db, 50), findDueEmails(db, 50)]);
  expect(ids).toEqual(others);
  expect(new Set(ids).size).toBe(50);
  expect(ids.filter((id) => id.startsWith('few'))).toEqual(['few1', 'few3']);
  const tries = await Promise.all(
    [...ids.slice(0, 20), ...others.slice(0, 20)].map((id) => send(id)),
  );
  expect(tries.filter((outcome) => outcome !== 'not_due')).toHaveLength(20);
  expect(new Set(resend.sent.map(({ key }) => key)).size).toBe(resend.sent.length);
  await db.pool.query('delete from emails');
});

describe('statuses', () => {
  const all = ['sent', 'delivered', 'bounced', 'complained'];
  /** Every permutation of every subset. */
  const orders = (rest: string[]): string[][] => [
    [],
    ...rest.flatMap((first) =>
      orders(rest.filter((one) => one !== first)).map((others) => [first, ...others]),
    ),
  ];
  const highest = (given: string[]) => all.findLast((status) => given.includes(status)) ?? 'sent';

  /**
   * Queues an e-mail that the provider has accepted and whose answer was lost: only the next
   * attempt returns the id.
   */
  async function queueWithoutId(): Promise<{ id: string; providerId: string }> {
    const id = await queue();
    resend.faults.push('lost_after');
    expect(await send(id)).toBe('later');
    await leaseEnds(id);
    return { id, providerId: sentAs(id)[0]!.id };
  }

  test('lead to the same state in every order, before or after the id of the e-mail is known', async () => {
    for (const order of orders(all)) {
      for (let at = 0; at <= order.length; at += 1) {
        const { id, providerId } = await queueWithoutId();
        for (const [index, status] of [...order.entries(), [order.length, null] as const]) {
          if (index === at) expect(await send(id)).toBe('sent');
          if (status === null) continue;
          expect(await deliver(providerId, status)).toMatchObject({
            ok: true,
            isKnown: index >= at,
          });
        }
        const { status, provider_id } = await read(id);
        expect({ order, at, status, provider_id }).toEqual({
          order,
          at,
          status: highest(order),
          provider_id: providerId,
        });
      }
    }
  });

  test('that arrive concurrently with the answer lead to the status of the highest rank', async () => {
    for (let round = 0; round < 25; round += 1) {
      const { id, providerId } = await queueWithoutId();
      const given = round % 2 ? all : ['sent', 'delivered'];
      await Promise.all(
        [...given, send, ...given].map((one) =>
          one === send ? send(id) : deliver(providerId, one as string),
        ),
      );
      expect(await read(id)).toMatchObject({ status: highest(given), provider_id: providerId });
    }
  });

  test('are applied to the e-mails of all tenants that have the id, and the delivery belongs to the first', async () => {
    const { scope: other } = await seedOrganization(db.pool);
    const [id, later] = [await queue(), await queue({ in: other })];
    await send(id);
    const providerId = sentAs(id)[0]!.id;
    await set(
      later,
      `status = 'sent', provider_id = '${providerId}', created_at = now() + interval '1 second'`,
    );
    const { organizationId, environment } = scope;
    expect(await deliver(providerId, 'delivered')).toEqual({
      ok: true,
      isKnown: true,
      organizationId,
      environment,
    });
    for (const one of [id, later]) expect(await read(one)).toMatchObject({ status: 'delivered' });
  });

  test('of a bounce store its reason; an event without a status is refused', async () => {
    const id = await queue();
    await send(id);
    const data = { email_id: sentAs(id)[0]!.id, bounce: { message: 'No such mailbox' } };
    expect(await applyEmailStatus(db, { type: 'email.bounced', data })).toMatchObject({
      organizationId: scope.organizationId,
    });
    await deliver(data.email_id, 'complained');
    expect(await read(id)).toMatchObject({ status: 'complained', error: 'No such mailbox' });
    const none: JsonObject[] = [
      { type: 'email.opened', data },
      { type: 'email.constructor', data },
      { type: 'email.sent', data: {} },
      {},
    ];
    for (const event of none)
      expect(await applyEmailStatus(db, event)).toEqual({
        ok: false,
        reason: 'no status of an e-mail',
      });
  });
});
