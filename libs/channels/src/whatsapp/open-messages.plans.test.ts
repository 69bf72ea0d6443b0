import { type Db, createDb } from '@parley/db';
import { openTestDatabase, scansOf, seedOrganization } from '@parley/testing';
import { claimMessage, findDueMessages, findNextMessage, markSent } from './outbox';
import { claimDue, findWaiting } from './waiting-messages';

let db: Db;
beforeAll(async () => {
  db = await openTestDatabase(createDb);
});
afterAll(() => db.close());

test('statements on open messages use the index of their key, also when PostgreSQL has collected statistics without open ones', async () => {
  const { tenant } = (await seedOrganization(db.pool)).scope;
  await db.pool.query(
    `insert into channel_connections (id, tenant, environment, phone_number_id, status, updated_at)
     select 'c' || n, $1, 'development', 'number_' || n, 'connected', now() from generate_series(1000, 3999) n`,
    [tenant],
  );
  const insert = (from: number, count: number, direction: string, status: string) =>
    db.pool.query(
      `insert into messages (id, tenant, environment, connection_id, direction, message_id, contact, type, status, payload, sent_at, created_at, updated_at)
       select $3 || n, $1, 'development', 'c' || n, $3::"MessageDirection", nullif($3 || n, 'outbound3000'), 'contact_' || n, 'text', $4, '{}', now(), now() - interval '1 minute', now()
       from generate_series($2::int, $2 + $5 - 1) n`,
      [tenant, from, direction, status, count],
    );
  await insert(1000, 2000, 'inbound', 'answered');
  await insert(1000, 2000, 'outbound', 'sent');
  await db.pool.query('analyze messages');
  await insert(3000, 1, 'inbound', 'received');
  await insert(3000, 1, 'outbound', 'queued');
  const message = { tenant, id: 'outbound3000' };
  const scans = await scansOf(db, 'messages', async (noting) => {
    await findWaiting(noting, 10);
    await claimDue(noting, tenant);
    await findDueMessages(noting, 10);
    await claimMessage(noting, message, 'one');
    await findNextMessage(noting, { tenant }, message.id);
    await markSent(noting, { ...message, connectionId: 'c3000' }, 'wamid.1');
  });
  const byKey = 'messages_pkey (id, tenant)';
  const ofContact = 'messages_of_contact_idx (connection_id, contact)';
  const due = ['messages_due_inbound_idx (tenant, COALESCE(lease_until, created_at))', ofContact];
  const lane = 'messages_outbound_lane_idx (tenant, environment, contact, id)';
  expect(scans).toEqual({
    // Reads the first entry of each tenant.
    'waiting-tenants': ['messages_due_inbound_idx ()', 'messages_due_inbound_idx (tenant)'],
    'waiting-conversations': due,
    'due-conversations': due,
    'lock-key': [],
    'claim-answer': [
      ofContact,
      byKey,
      'messages_tenant_environment_contact_created_at_idx (tenant, environment, contact, created_at, created_at)',
    ],
    'due-message-tenants': ['messages_due_outbound_idx ()', 'messages_due_outbound_idx (tenant)'],
    'due-messages': [
      'messages_due_outbound_idx (tenant, COALESCE(lease_until, created_at))',
      'messages_outbound_lane_idx (tenant, environment, contact)',
    ],
    'claim-message': [lane, byKey],
    'next-message': [lane, byKey],
    'mark-message-sent': [byKey],
    'apply-kept-status': [byKey],
  });
  const { rows } = await db.pool.query(
    `select id, status from messages where id in ('inbound3000', 'outbound3000') order by 1`,
  );
  expect(rows).toEqual([
    { id: 'inbound3000', status: 'answering' },
    { id: 'outbound3000', status: 'sent' },
  ]);
});
