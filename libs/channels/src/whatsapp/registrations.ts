import { type Queryable, type RowOf, column, scopeColumns, scopeRow, statement } from '@parley/db';
import type { Accounts } from '../accounts';
import { createKapsoClient } from '../kapso/kapso-client';
import { type WebhookSettings, registerWebhook, registrationLeaseSeconds } from './register-webhook';
import { fingerprintOf } from './webhook-secret';

export interface RegisteredAgain {
  connectionId: string;
  organizationId: string;
  /** Why it failed; null when it is registered. */
  problem: string | null;
}

const claimedRow = {
  id: column.text,
  ...scopeRow,
  phoneNumberId: column.text,
  lease: column.timestamptz,
};
type Claimed = RowOf<typeof claimedRow>;

/**
 * Registers the webhooks of at most `limit` connections again whose secret is not derived from the first of ours. The claim
 * is a lease, so several workers take different ones. An account that fails is tried again after 1, 2, 4 … 60 minutes.
 */
export async function registerOutdated(
  deps: WebhookSettings & { db: Queryable; accounts: Accounts },
  limit: number,
): Promise<RegisteredAgain[]> {
  const { db, accounts, webhookSecrets } = deps;
  if (webhookSecrets[0] === undefined) return [];
  await noteSharedSecrets(db, webhookSecrets);
  const { rows } = await db.acrossTenants('due work', claim, [fingerprintOf(webhookSecrets[0]), limit]);
  return Promise.all(
    rows.map(async (connection) => {
      const { id: connectionId, organizationId } = connection;
      // An account whose key does not open must not keep the others of the batch from theirs.
      const problem = await register(connection).catch((error: unknown) => (error as Error).message);
      if (problem !== null) await db.query(connection, putOffRegistration, [connectionId, connection.lease]);
      return { connectionId, organizationId, problem };
    }),
  );

  async function register(connection: Claimed): Promise<string | null> {
    const account = await accounts.kapso(connection);
    if (account === null) return 'Kapso is not configured';
    const done = await registerWebhook(db, createKapsoClient(account), deps, connection);
    return done.ok ? null : done.message;
  }
}

const isDue = `webhook_id is not null and phone_number_id is not null and secret_fingerprint is distinct from $1
               and (webhook_try_at is null or webhook_try_at <= now())`;

/** One of each tenant before the second of any, so that an account with many numbers holds up nobody else. */
const claim = statement(
  'claim-outdated-registrations',
  `with due as (
     select id, row_number() over (partition by tenant order by webhook_try_at nulls first, id) as turn
     from channel_connections where ${isDue}
     order by turn, random() limit $2),
   free as (
     select id from channel_connections where id in (select id from due) and ${isDue} for update skip locked)
   update channel_connections c
   set webhook_try_at = now() + interval '${registrationLeaseSeconds} seconds', webhook_attempts = webhook_attempts + 1
   from free where c.id = free.id
   returning c.id, ${scopeColumns('c.')}, c.phone_number_id as "phoneNumberId",
             c.webhook_try_at as lease`,
  claimedRow,
);

const putOffRegistration = statement(
  'put-off-registration',
  `update channel_connections set webhook_try_at = now() + interval '1 minute' * least(60, 2 ^ (webhook_attempts - 1))
   where id = $1 and webhook_try_at = $2`,
);

/** What the migration wrote: a secret was registered with accounts of organizations, and only the services know which. */
const unnamed = '';

const noteShared = statement(
  'note-shared-secrets',
  `with found as (delete from shared_messaging_secrets where fingerprint = $2 returning fingerprint)
   insert into shared_messaging_secrets (fingerprint)
   select unnest($1::text[])
   where exists (select from found)
      or (exists (select from channel_connections where webhook_id is not null and secret_fingerprint is null)
          and not exists (select from shared_messaging_secrets))
   on conflict do nothing`,
);

/**
 * Notes which secrets organizations know, because earlier versions registered the deployment's own with their accounts: any
 * of those in use by now. A connection with a webhook and no fingerprint was registered by such a version, after the
 * migration when nothing was noted yet. Once something is, later secrets are not noted: they were never handed out.
 */
async function noteSharedSecrets(db: Queryable, secrets: readonly string[]): Promise<void> {
  await db.acrossTenants('sweep', noteShared, [secrets.map(fingerprintOf), unnamed]);
}

export interface RegistrationState {
  /** Connections with a registered webhook. */
  registered: number;
  /** Those of them that still have a secret of the deployment itself. */
  shared: Connected[];
  /** Those whose secret is derived, but not from the first one. */
  outdated: Connected[];
  /** Whether organizations know the first secret; null when it cannot be said. */
  isKnown: boolean | null;
  /** Whether they know another one that is still accepted. */
  isEarlierKnown: boolean;
}

const registeredRow = {
  id: column.text,
  organization: column.text,
  /** Registrations that were begun since the last one that succeeded. */
  attempts: column.int4,
  fingerprint: column.text.nullable,
};
type Connected = Omit<RowOf<typeof registeredRow>, 'fingerprint'>;

const registeredConnections = statement(
  'registered-connections',
  `select c.id, o.slug as organization, c.webhook_attempts as attempts, c.secret_fingerprint as fingerprint
   from channel_connections c join organizations o on o.no = c.tenant
   where c.webhook_id is not null order by c.id`,
  registeredRow,
);

const sharedSecrets = statement('shared-secrets', 'select fingerprint from shared_messaging_secrets', {
  fingerprint: column.text,
});

/** How far the registrations are. Without `secrets`, what the rows alone say. */
export async function readRegistrations(db: Queryable, secrets: readonly string[]): Promise<RegistrationState> {
  const { rows } = await db.acrossTenants('operator command', registeredConnections);
  const { rows: known } = await db.acrossTenants('operator command', sharedSecrets);
  const isKnown = (fingerprint: string) => known.some((one) => one.fingerprint === fingerprint);
  const [first, ...earlier] = secrets.map(fingerprintOf);
  const derived = rows.filter(({ fingerprint }) => fingerprint !== null);
  const inUse = first === undefined ? derived.map(({ fingerprint }) => fingerprint!) : [first];
  return {
    registered: rows.length,
    shared: rows.filter(({ fingerprint }) => fingerprint === null),
    outdated: derived.filter(({ fingerprint }) => first !== undefined && fingerprint !== first),
    isKnown: inUse.length === 0 ? null : isKnown(unnamed) || inUse.some(isKnown),
    isEarlierKnown: earlier.some(isKnown),
  };
}
