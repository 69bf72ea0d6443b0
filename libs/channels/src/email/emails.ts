import { type JsonObject, type Scope, objectAt, textAt } from '@parley/contracts';
import { type Queryable, type RowOf, type Tenant } from '@parley/db';
import {
  claimByTenant,
  column,
  leaseSql,
  newId,
  scopeColumns,
  scopeRow,
  statement,
} from '@parley/db';
import { callHttp } from '@parley/outbound';
import type { Accounts } from '../accounts';
import { noSlotWaitMs } from '../no-slot-wait';
import { keepStatus } from '../whatsapp/apply-message-status';

export interface NewEmail {
  from: string;
  to: string[];
  subject: string;
  /** The request to Resend (docs/reference/providers.md#resend-e-mails). */
  request: JsonObject;
  key: string;
}

/**
 * Resend keeps idempotency keys for a day. After that, another attempt could send a second e-mail.
 */
export const keyLifeHours = 23;

/**
 * SQL: the e-mail may be sent again. It was refused at its only attempt, or the provider still has
 * its idempotency key, which makes another attempt harmless.
 */
const isNotSent = `emails.status = 'failed' and emails.provider_id is null
  and (emails.attempts <= 1 or excluded.created_at - emails.created_at < interval '${keyLifeHours} hours')`;

const queue = statement(
  'queue-email',
  `insert into emails (id, tenant, environment, idempotency_key, "from", "to", subject, status, payload,
                       created_at, updated_at)
   values ($id, $tenant, $environment::"Environment", $key, $from, $to, $subject, 'queued', $request::jsonb, now(),
     now())
   on conflict (tenant, environment, idempotency_key) do update set
     status = case when ${isNotSent} then 'queued' else emails.status end,
     attempts = case when ${isNotSent} then 0 else emails.attempts end,
     error = case when ${isNotSent} then null else emails.error end
   returning id`,
  { id: column.text },
);

/**
 * Adds an e-mail to the outbox, or returns the existing one with the same key. If the existing
 * e-mail failed and may be sent again, it is queued with its full number of attempts.
 */
export async function queueEmail(
  db: Queryable,
  scope: Scope,
  email: NewEmail,
): Promise<{ id: string }> {
  const { key, from, to, subject, request } = email;
  const values = {
    id: newId('email'),
    environment: scope.environment,
    key,
    from,
    to,
    subject,
    request: JSON.stringify(request),
  };
  return (await db.query(scope, queue, values)).rows[0]!;
}

const timeoutMs = 12_000;
const leaseSeconds = 30;
const maxAttempts = 8;

const claimedEmail = {
  id: column.text,
  ...scopeRow,
  /** Never null in a claimed e-mail: it is set to null when the e-mail is sent. */
  payload: column.jsonb<JsonObject>(),
  attempts: column.int4,
  /** Time since the e-mail was queued. */
  ageHours: column.float8,
};
type ClaimedEmail = RowOf<typeof claimedEmail>;

const claim = statement(
  'claim-email',
  `update emails set status = 'sending', lease_owner = $owner, attempts = attempts + 1, updated_at = now(),
                     lease_until = ${leaseSql.until(leaseSeconds)}
   where tenant = $tenant and id = $id and status in ('queued', 'sending') and ${leaseSql.isFree()}
   returning id, ${scopeColumns()}, payload, attempts,
             extract(epoch from now() - created_at)::float8 / 3600 as "ageHours"`,
  claimedEmail,
);

const giveUp = statement(
  'give-email-up',
  `update emails set status = $status, error = $error, ${leaseSql.release}, updated_at = now()
   where ${leaseSql.isHeld('sending')}`,
);

export type EmailOutcome = 'sent' | 'failed' | 'unknown' | 'later' | 'not_due';

/**
 * Sends one e-mail of the outbox. Its id is the provider's idempotency key and its request never
 * changes, so an attempt whose answer was lost is repeated, while the provider keeps the key.
 */
export async function sendEmail(
  deps: { db: Queryable; accounts: Accounts; owner: string },
  tenant: Tenant,
  id: string,
): Promise<EmailOutcome> {
  const { db, accounts, owner } = deps;
  const [email] = (await db.query(tenant, claim, { id, owner })).rows;
  if (email === undefined) return 'not_due';
  const end = async (status: 'failed' | 'unknown', error: string): Promise<EmailOutcome> => {
    await db.query(email, giveUp, { id, owner, status, error });
    return status;
  };
  if (email.ageHours > keyLifeHours && email.attempts > 1)
    return end('unknown', 'no answer within a day');
  const account = await accounts.resend(email);
  if (account === null)
    return end(
      email.attempts > 1 ? 'unknown' : 'failed',
      'Resend is not configured: parley integrations set resend',
    );
  const outcome = await callHttp({
    method: 'POST',
    url: `${account.apiUrl}/emails`,
    headers: { Authorization: `Bearer ${account.apiKey}`, 'Idempotency-Key': id },
    body: email.payload,
    timeoutMs,
    organizationId: email.organizationId,
    // The e-mail waits in the outbox. A job that waits would occupy a worker of the queue.
    slotWaitMs: 0,
  });
  if (outcome.kind === 'answered') {
    const { status, body, retryAfterMs } = outcome;
    const providerId = textAt(objectAt(body).id);
    if (status >= 200 && status < 300 && providerId !== undefined) {
      await markSent(db, email, providerId);
      return 'sent';
    }
    const name = textAt(objectAt(body).name) ?? '';
    const error = `${status}: ${name} ${textAt(objectAt(body).message) ?? ''}`.trim().slice(0, 500);
    const isTemporary =
      status >= 500 || status === 429 || status < 300 || name === 'concurrent_idempotent_requests';
    // The daily quota is not restored before the attempts end.
    if (!isTemporary || name === 'daily_quota_exceeded' || email.attempts >= maxAttempts)
      return end('failed', error);
    return putBack(deps, email, { error, afterMs: retryAfterMs, isTried: true });
  }
  if (outcome.reason === 'no_slot') {
    const afterMs = noSlotWaitMs(email.ageHours * 3_600_000);
    return putBack(deps, email, {
      error: `no request sent: ${outcome.message}`,
      afterMs,
      isTried: false,
    });
  }
  if (email.attempts >= maxAttempts)
    return end(outcome.kind === 'not_sent' ? 'failed' : 'unknown', outcome.message);
  return putBack(deps, email, { error: outcome.message, afterMs: null, isTried: true });
}

const putEmailBack = statement(
  'put-email-back',
  `update emails set status = 'queued', error = $error, updated_at = now(), ${leaseSql.postpone('$waitMs')},
                     attempts = attempts - case when $isTried then 0 else 1 end
   where ${leaseSql.isHeld('sending')}`,
);

/** Queues a claimed e-mail again. `isTried`: the provider was called, so the attempt counts. */
async function putBack(
  { db, owner }: { db: Queryable; owner: string },
  email: ClaimedEmail,
  { error, afterMs, isTried }: { error: string; afterMs: number | null; isTried: boolean },
): Promise<EmailOutcome> {
  const waitMs = Math.min(afterMs ?? 500 * 2 ** email.attempts, 15 * 60_000);
  await db.query(email, putEmailBack, { id: email.id, owner, error, waitMs, isTried });
  return 'later';
}

const markEmailSent = statement(
  'mark-email-sent',
  `update emails set provider_id = $providerId,
     status = case when status in ('queued', 'sending', 'unknown', 'held') then 'sent' else status end,
                     payload = null, error = null, ${leaseSql.release}, updated_at = now()
   where tenant = $tenant and id = $id and coalesce(provider_id, '') = ''`,
);

async function markSent(db: Queryable, email: ClaimedEmail, providerId: string): Promise<void> {
  // `payload = null`: the content is deleted after the provider has accepted the e-mail.
  // `coalesce`: no index of missing ids is read (ADR 81).
  await db.query(email, markEmailSent, { id: email.id, providerId });
  await db.query(email, applyKeptStatus, { providerId });
}

/** A status replaces only a status of lower rank: a late delivery does not replace a complaint. */
const ranks = { sent: 1, delivered: 2, bounced: 3, complained: 4 } as const;
type EmailStatus = keyof typeof ranks;

const applyKeptStatus = statement(
  'apply-email-status',
  `update emails e set status = s.status, error = coalesce(s.error, e.error), updated_at = now()
   from provider_statuses s
   where s.provider = 'resend' and s.external_id = $providerId and e.tenant = $tenant and e.provider_id = $providerId
     and s.rank > case e.status ${Object.entries(ranks)
       .map(([status, rank]) => `when '${status}' then ${rank}`)
       .join(' ')} else 0 end`,
);

const emailsOfProviderId = statement(
  'emails-of-provider-id',
  `select ${scopeColumns()} from emails where provider_id = $providerId order by created_at`,
  scopeRow,
);

/** Stores the status of an e-mail, and applies it once the provider's id of the e-mail is known. */
export async function applyEmailStatus(
  db: Queryable,
  event: JsonObject,
): Promise<
  ({ ok: true; isKnown: boolean } & Partial<Omit<Scope, 'tenant'>>) | { ok: false; reason: string }
> {
  const status = (textAt(event.type) ?? '').split('.').at(-1) as EmailStatus;
  const data = objectAt(event.data);
  const providerId = textAt(data.email_id);
  if (providerId === undefined || !Object.hasOwn(ranks, status))
    return { ok: false, reason: 'no status of an e-mail' };
  const error = status === 'bounced' ? (textAt(objectAt(data.bounce).message) ?? 'bounced') : null;
  await keepStatus(db, 'resend', { externalId: providerId, status, rank: ranks[status], error });
  const { rows } = await db.acrossTenants('inbound webhook', emailsOfProviderId, { providerId });
  for (const email of rows) await db.query(email, applyKeptStatus, { providerId });
  const [first] = rows;
  const isKnown = first !== undefined;
  return {
    ok: true,
    isKnown,
    organizationId: first?.organizationId,
    environment: first?.environment,
  };
}

const isPending = "status in ('queued', 'sending')";
const dueEmails = {
  tenants: leaseSql.tenants('due-email-tenants', { table: 'emails', where: isPending }),
  due: statement(
    'due-emails',
    `select id from emails where tenant = $tenant and ${isPending} and ${leaseSql.isOverdue}
     order by ${leaseSql.dueSince}, id limit $limit offset $offset`,
    { id: column.text },
  ),
};

/**
 * Finds e-mails that are due or whose sender's lease has expired, oldest first within each tenant.
 */
export async function findDueEmails(db: Queryable, limit: number): Promise<string[]> {
  return (await claimByTenant(db, dueEmails, limit)).map(({ id }) => id);
}

const emailView = {
  id: column.text,
  status: column.text,
  error: column.text.nullable,
  providerId: column.text.nullable,
};
export type EmailView = RowOf<typeof emailView>;

const emailById = statement(
  'read-email',
  `select id, status, error, provider_id as "providerId" from emails
   where tenant = $tenant and environment = $environment::"Environment" and id = $id`,
  emailView,
);

/** Reads an e-mail of an environment; null when there is none. */
export async function readEmail(
  db: Queryable,
  scope: Scope,
  id: string,
): Promise<EmailView | null> {
  return (await db.query(scope, emailById, { environment: scope.environment, id })).rows[0] ?? null;
}
