import { type Queryable, type RowOf, column, scopeColumns, scopeRow, statement } from '@parley/db';
import type { Accounts } from '../accounts';
import { createKapsoClient } from '../kapso/kapso-client';
import {
  type WebhookSettings,
  registerWebhook,
  registrationLeaseSeconds,
} from './register-webhook';
import { fingerprintOf } from './webhook-secret';

export interface ReregisteredWebhook {
  connectionId: string;
  organizationId: string;
  /** Why the registration failed; null on success. */
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
 * Registers up to `limit` webhooks again whose secret is not derived from the deployment's first secret. A claim is a lease, so
 * that concurrent workers claim different connections. Failures are retried after 1, 2, 4 … 60 minutes.
 */
export async function registerOutdated(
  deps: WebhookSettings & { db: Queryable; accounts: Pick<Accounts, 'kapso'> },
  limit: number,
): Promise<ReregisteredWebhook[]> {
  const { db, accounts, webhookSecrets } = deps;
  if (webhookSecrets[0] === undefined) return [];
  await noteSharedSecrets(db, webhookSecrets);
  const { rows } = await db.acrossTenants('due work', claim, [
    fingerprintOf(webhookSecrets[0]),
    limit,
  ]);
  return Promise.all(
    rows.map(async (connection) => {
      const { id: connectionId, organizationId } = connection;
      // An account whose key cannot be decrypted must not stop the rest of the batch.
      const problem = await register(connection).catch(
        (error: unknown) => (error as Error).message,
      );
      if (problem !== null)
        await db.query(connection, putOffRegistration, [connectionId, connection.lease]);
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

/** Claims one connection of each tenant before a second one, so that a tenant with many numbers does not delay others. */
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

/** The migration stores this value if a secret was registered with organizations' accounts, as SQL cannot compute its hash. */
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
 * Stores the deployment secrets that organizations may know, because earlier versions registered them with the
 * organizations' accounts. A connection with a webhook and without a fingerprint was registered by such a version. If
 * nothing is stored yet, it may have any of the current secrets. Secrets that are added later were never registered.
 */
async function noteSharedSecrets(db: Queryable, secrets: readonly string[]): Promise<void> {
  await db.acrossTenants('sweep', noteShared, [secrets.map(fingerprintOf), unnamed]);
}

export interface RegistrationState {
  /** Connections with a registered webhook. */
  registered: number;
  /** Connections whose webhook still has a deployment secret, not a derived one. */
  shared: Connected[];
  /** Connections whose secret is derived from a deployment secret that is not the first. */
  outdated: Connected[];
  /** Whether organizations know the first secret; null if there is no information. */
  isKnown: boolean | null;
  /** Whether organizations know another secret that is still accepted. */
  isEarlierKnown: boolean;
}

const registeredRow = {
  id: column.text,
  organization: column.text,
  /** Attempts to register since the last success. */
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

const sharedSecrets = statement(
  'shared-secrets',
  'select fingerprint from shared_messaging_secrets',
  {
    fingerprint: column.text,
  },
);

/** Reports the state of all registrations. If `secrets` is empty, outdated registrations are not detected. */
export async function readRegistrations(
  db: Queryable,
  secrets: readonly string[],
): Promise<RegistrationState> {
  const { rows } = await db.acrossTenants('operator command', registeredConnections);
  const { rows: known } = await db.acrossTenants('operator command', sharedSecrets);
  const isKnown = (fingerprint: string) =>
    known.some((secret) => secret.fingerprint === fingerprint);
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
