import { type Db, createDb, createSecretBox } from '@parley/db';
import {
  type ResendServer,
  openTestDatabase,
  scansOf,
  seedOrganization,
  startResendServer,
} from '@parley/testing';
import { createAccounts } from '../accounts';
import { findDueEmails, sendEmail } from './emails';

let db: Db;
let resend: ResendServer;
beforeAll(async () => {
  db = await openTestDatabase(createDb);
  resend = await startResendServer();
});
afterAll(async () => {
  await resend.stop();
  await db.close();
});

test('an e-mail is looked up by its id, also when PostgreSQL has collected statistics without waiting ones', async () => {
  const { tenant } = (await seedOrganization(db.pool)).scope;
  const box = createSecretBox(Buffer.alloc(32).toString('base64'));
  const withoutKey = { KAPSO_API_URL: resend.url, RESEND_API_URL: resend.url };
  const withKey = { ...withoutKey, RESEND_API_KEY: resend.apiKey };
  const insert = (from: number, status: string, providerId: string | null) =>
    db.pool.query(
      `insert into emails (id, tenant, environment, idempotency_key, "from", "to", subject, status, payload, provider_id, created_at, updated_at)
       select 'e' || n, $1, 'development', 'e' || n, 'a', '{b}', '', $3, $5, $4 || n, now() - interval '1 minute', now()
       from generate_series($2::int, $2 + 1999) n`,
      [
        tenant,
        from,
        status,
        providerId,
        { from: 'a@example.com', to: ['b@example.com'], subject: 'Hello', text: 'Hello' },
      ],
    );
  await insert(1, 'sent', 'email_');
  await db.pool.query('analyze emails');
  await insert(2_001, 'queued', null);
  const scans = await scansOf(db, 'emails', async (noting) => {
    await findDueEmails(noting, 10);
    const send = (id: string, settings: typeof withoutKey) =>
      sendEmail(
        { db: noting, accounts: createAccounts(db, box, settings), owner: 'a' },
        { tenant },
        id,
      );
    expect(await send('e2001', withoutKey)).toBe('failed');
    expect(await send('e2002', withKey)).toBe('sent');
  });
  expect(resend.problems).toEqual([]);
  expect(scans).toEqual({
    'due-email-tenants': ['emails_due_idx ()', 'emails_due_idx (tenant)'],
    'due-emails': ['emails_due_idx (tenant, COALESCE(lease_until, created_at))'],
    'claim-email': ['emails_pkey (id, tenant)'],
    'give-email-up': ['emails_pkey (id, tenant)'],
    'mark-email-sent': ['emails_pkey (id, tenant)'],
    'apply-email-status': ['emails_provider_id_tenant_key (provider_id, tenant)'],
  });
});
