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
 * Registers up to `limit` webhooks again whose secret is not derived from the deployment's first
 * secret. A claim is a lease, so that concurrent workers claim different connections. Failures are
 * retried after 1, 2, 4 … 60 minutes.
 */
export async function registerOutdated(
  deps: WebhookSettings & { db: Queryable; accounts: Pick<Accounts, 'kapso'> },
  limit: number,
): Promise<ReregisteredWebhook[]> {
  const { db, accounts, webhookSecrets } = deps;
  if (webhookSecrets[0] === undefined) return [];
  const { rows } = await db.acrossTenants('due work', claim, {
    fingerprint: fingerprintOf(webhookSecrets[0]),
    limit,
  });
  return Promise.all(
    rows.map(async (connection) => {
      const { id: connectionId, organizationId } = connection;
      // An account whose key cannot be decrypted must not stop the rest of the batch.
      const problem = await register(connection).catch(
        (error: unknown) => (error as Error).message,
      );
      if (problem !== null)
        await db.query(connection, putOffRegistration, { connectionId, lease: connection.lease });
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

const isDue = `webhook_id is not null and phone_number_id is not null and secret_fingerprint is distinct
   from $fingerprint
               and (webhook_try_at is null or webhook_try_at <= now())`;

/**
 * Claims one connection of each tenant before a second one, so that a tenant with many numbers does
 * not delay others.
 */
const claim = statement(
  'claim-outdated-registrations',
  `with due as (
     select id, row_number() over (partition by tenant order by webhook_try_at nulls first, id) as turn
     from channel_connections where ${isDue}
     order by turn, random() limit $limit),
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
   where id = $connectionId and webhook_try_at = $lease`,
);

export interface RegistrationState {
  /** Connections with a registered webhook. */
  registered: number;
  /** Those whose secret is not derived from the deployment's first secret. */
  outdated: Registered[];
}

const registeredRow = {
  id: column.text,
  organization: column.text,
  /** Attempts to register since the last success. */
  attempts: column.int4,
  isOutdated: column.bool,
};
type Registered = RowOf<typeof registeredRow>;

const registeredConnections = statement(
  'registered-connections',
  `select c.id, o.slug as organization, c.webhook_attempts as attempts,
          $fingerprint::text is not null and c.secret_fingerprint is distinct from $fingerprint as "isOutdated"
   from channel_connections c join organizations o on o.no = c.tenant
   where c.webhook_id is not null order by c.id`,
  registeredRow,
);

/** Reports the state of all registrations. Without secrets, none counts as outdated. */
export async function readRegistrations(
  db: Queryable,
  [first]: readonly string[],
): Promise<RegistrationState> {
  const fingerprint = first === undefined ? null : fingerprintOf(first);
  const { rows } = await db.acrossTenants('operator command', registeredConnections, {
    fingerprint,
  });
  return { registered: rows.length, outdated: rows.filter(({ isOutdated }) => isOutdated) };
}
