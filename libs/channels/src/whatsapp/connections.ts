import { randomUUID } from 'node:crypto';
import type { Scope } from '@parley/contracts';
import { type Db, type Queryable, type RowOf, type Tenant } from '@parley/db';
import { column, leaseSql, newId, scopeColumns, scopeRow, statement } from '@parley/db';
import type { AddressGuard } from '@parley/outbound';
import type { Accounts } from '../accounts';
import { createKapsoClient } from '../kapso/kapso-client';
import { digitsOf } from './read-inbound';
import {
  type WebhookSettings,
  registerWebhook,
  registrationLeaseSeconds,
} from './register-webhook';

const connectionRow = {
  id: column.text,
  ...scopeRow,
  phoneNumberId: column.text.nullable,
  phoneNumber: column.text.nullable,
  agentSlug: column.text.nullable,
  routerSlug: column.text.nullable,
  webhookId: column.text.nullable,
};
export type Connection = RowOf<typeof connectionRow>;

const columns = `id, ${scopeColumns()}, phone_number_id as "phoneNumberId",
  phone_number as "phoneNumber", agent_slug as "agentSlug", router_slug as "routerSlug", webhook_id as "webhookId"`;

export interface ConnectDeps extends WebhookSettings {
  db: Db;
  accounts: Pick<Accounts, 'kapso'>;
  /** Time limit of one call to Kapso. */
  timeoutMs?: number;
  /** Refuses addresses of organizations that are not public. */
  guard?: AddressGuard;
}

export type ConnectResult =
  | { ok: true; connection: Connection }
  /** No connection waits for this customer, or the number no longer exists. */
  | { ok: false; reason: 'not_found'; message: string }
  /** The call may be retried. */
  | { ok: false; reason: 'failed'; message: string };

const connectionOfNumber = statement(
  'find-connection',
  `select ${columns} from channel_connections where phone_number_id = $phoneNumberId`,
  connectionRow,
);

/** Finds the connection that has a phone number. */
export const findConnection = async (
  db: Queryable,
  phoneNumberId: string,
): Promise<Connection | null> =>
  (await db.acrossTenants('inbound webhook', connectionOfNumber, { phoneNumberId })).rows[0] ??
  null;

const connectionForNumber = statement(
  'find-connection-for-number',
  `select ${columns} from channel_connections
   where phone_number_id = $phoneNumberId or (external_customer_id = $customerId and phone_number_id is null)
   order by phone_number_id nulls last, created_at limit 1`,
  connectionRow,
);

/**
 * Finds the connection for a number: its own, else the customer's oldest connection
 * without a number.
 */
export async function findConnectionFor(
  db: Queryable,
  { phoneNumberId, customerId }: { phoneNumberId: string; customerId: string | null },
): Promise<Connection | null> {
  return (
    (await db.acrossTenants('inbound webhook', connectionForNumber, { phoneNumberId, customerId }))
      .rows[0] ?? null
  );
}

const create = statement(
  'create-connection',
  `insert into channel_connections (id, tenant, environment, external_customer_id, agent_slug, router_slug,
                                    contact_type, updated_at)
   values ($id, $tenant, $environment::"Environment", $customerId, $agentSlug, $routerSlug, $contactType, now())`,
);

/** Creates a connection whose number is still to be connected in Kapso. Returns its id. */
export async function createConnection(
  db: Queryable,
  scope: Scope,
  given: {
    customerId: string | null;
    agentSlug: string | null;
    routerSlug: string | null;
    contactType: string | null;
  },
): Promise<string> {
  const id = newId('conn');
  const { customerId, agentSlug, routerSlug, contactType } = given;
  const values = {
    id,
    environment: scope.environment,
    customerId,
    agentSlug,
    routerSlug,
    contactType,
  };
  await db.query(scope, create, values);
  return id;
}

const simulate = statement(
  'simulate-number',
  `update channel_connections set phone_number_id = $phoneNumberId, phone_number = '15550000000', status = 'connected'
   where id = $connectionId and tenant = $tenant and environment = $environment::"Environment"`,
);

/** Gives a connection a number that does not exist in Kapso, for sample deliveries. */
export async function simulateNumber(
  db: Queryable,
  scope: Scope,
  connectionId: string,
): Promise<void> {
  await db.query(scope, simulate, {
    environment: scope.environment,
    connectionId,
    phoneNumberId: `simulated-${randomUUID()}`,
  });
}

const connectionOfCustomer = statement(
  'find-connection-of-customer',
  `select ${columns} from channel_connections where external_customer_id = $customerId`,
  connectionRow,
);

/** Whether a customer has a connection in another environment. */
export async function isForeignCustomer(
  db: Queryable,
  scope: Scope,
  customerId: string,
): Promise<boolean> {
  const { rows } = await db.acrossTenants('inbound webhook', connectionOfCustomer, { customerId });
  return rows.some(
    ({ organizationId, environment }) =>
      organizationId !== scope.organizationId || environment !== scope.environment,
  );
}

const changeContactType = statement(
  'set-contact-type',
  `update channel_connections set contact_type = $contactType, updated_at = now()
   where id = $connectionId and tenant = $tenant and environment = $environment::"Environment"`,
);

/** Sets the entity type of a connection's contacts. It applies from their next message on. */
export async function setContactType(
  db: Queryable,
  scope: Scope,
  connectionId: string,
  contactType: string | null,
): Promise<void> {
  await db.query(scope, changeContactType, {
    environment: scope.environment,
    connectionId,
    contactType,
  });
}

const assignNumber = statement(
  'connect-number',
  `update channel_connections set phone_number_id = $phoneNumberId, phone_number = $phoneNumber, status = 'connected',
     updated_at = now(),
                                  webhook_try_at = now() + interval '${registrationLeaseSeconds} seconds'
   where id = $id returning ${columns}, webhook_try_at as lease`,
  { ...connectionRow, lease: column.timestamptz },
);

/** Gives a connection its number. */
export async function assignNumberTo(
  db: Queryable,
  scope: Tenant,
  id: string,
  { phoneNumberId, phoneNumber }: { phoneNumberId: string; phoneNumber: string | null },
) {
  const { rows } = await db.query(scope, assignNumber, {
    id,
    phoneNumberId,
    phoneNumber: digitsOf(phoneNumber ?? '') || null,
  });
  return rows[0]!;
}

/**
 * Handles the event that a number was connected: assigns it to the connection of its customer,
 * reads its digits from Kapso and registers the messages webhook. May be repeated: a webhook that
 * has our address is updated.
 */
export async function connectNumber(
  deps: Omit<ConnectDeps, 'db'> & { db: Queryable },
  event: { phoneNumberId: string; customerId: string | null },
): Promise<ConnectResult> {
  const { db, accounts } = deps;
  const { phoneNumberId, customerId } = event;
  const waiting = await findConnectionFor(db, event);
  if (waiting === null)
    return { ok: false, reason: 'not_found', message: `no connection of customer ${customerId}` };
  const account = await accounts.kapso(waiting);
  if (account === null)
    return {
      ok: false,
      reason: 'failed',
      message: 'Kapso is not configured (integrations set kapso)',
    };
  const client = createKapsoClient(account, deps);
  const number = await client.getPhoneNumber(phoneNumberId);
  if (!number.ok) {
    const isMissing = number.reason === 'refused' && number.status === 404;
    return {
      ok: false,
      reason: isMissing ? 'not_found' : 'failed',
      message: `phone number: ${number.message}`,
    };
  }
  const { lease, ...connection } = await assignNumberTo(db, waiting, waiting.id, number.value);
  const registered = await registerWebhook(db, client, deps, {
    ...connection,
    phoneNumberId,
    lease,
  });
  if (!registered.ok)
    return { ok: false, reason: 'failed', message: `webhook: ${registered.message}` };
  return { ok: true, connection: { ...connection, webhookId: registered.webhookId } };
}

/**
 * Handles the event that a number was disconnected: deletes its webhooks that have our address,
 * then the connection. Messages are kept; messages that are not answered or sent yet are closed.
 */
export async function disconnectNumber(
  deps: ConnectDeps,
  phoneNumberId: string,
): Promise<{ ok: true; connection: Connection | null } | { ok: false; message: string }> {
  const connection = await findConnection(deps.db, phoneNumberId);
  if (connection === null) return { ok: true, connection: null };
  const deleted = await deleteWebhooks(deps, connection);
  if (!deleted.ok) return deleted;
  await deps.db.transaction((tx) => removeConnection(tx, connection));
  return { ok: true, connection };
}

const connectionOfEnvironment = statement(
  'find-connection-of-environment',
  `select ${columns} from channel_connections where id = $id and tenant = $tenant
     and environment = $environment::"Environment"`,
  connectionRow,
);

/**
 * Disconnects a channel of an environment in the same way. `record` is called in the transaction
 * that deletes it.
 */
export async function disconnectChannel(
  deps: ConnectDeps,
  scope: Scope,
  id: string,
  record: (tx: Queryable, connection: Connection) => Promise<void>,
): Promise<
  | { ok: true }
  | { ok: false; reason: 'not_found' }
  | { ok: false; reason: 'provider_failed'; message: string }
> {
  const { rows } = await deps.db.query(scope, connectionOfEnvironment, {
    environment: scope.environment,
    id,
  });
  const connection = rows[0];
  if (connection === undefined) return { ok: false, reason: 'not_found' };
  const deleted = await deleteWebhooks(deps, connection);
  if (!deleted.ok)
    return { ok: false, reason: 'provider_failed', message: `Kapso: ${deleted.message}` };
  return deps.db.transaction(async (tx) => {
    if (!(await removeConnection(tx, connection))) return { ok: false, reason: 'not_found' };
    await record(tx, connection);
    return { ok: true };
  });
}

/** Deletes the webhooks of a number that have our address. */
async function deleteWebhooks(
  { accounts, webhookUrl, timeoutMs, guard }: ConnectDeps,
  connection: Connection,
): Promise<{ ok: true } | { ok: false; message: string }> {
  const { phoneNumberId } = connection;
  const account = phoneNumberId === null ? null : await accounts.kapso(connection);
  if (account === null || phoneNumberId === null) return { ok: true };
  const client = createKapsoClient(account, { timeoutMs, guard });
  const listed = await client.listWebhooks(phoneNumberId);
  if (!listed.ok && listed.reason !== 'refused') return { ok: false, message: listed.message };
  const ours = listed.ok
    ? listed.value.filter(({ id, url }) => url === webhookUrl || id === connection.webhookId)
    : [];
  for (const { id } of ours) {
    const deleted = await client.deleteWebhook(phoneNumberId, id);
    // `refused`: the webhook has been deleted already.
    if (!deleted.ok && deleted.reason !== 'refused') return { ok: false, message: deleted.message };
  }
  return { ok: true };
}

const lock = statement(
  'lock-connection',
  'select from channel_connections where id = $id and phone_number_id is not distinct from $phoneNumberId for update',
);

const closeMessages = statement(
  'close-messages-of-connection',
  `update messages set status = case when status in ('sending', 'held') then 'unknown' else 'failed' end,
                       error = 'the number was disconnected', ${leaseSql.release},
                       updated_at = now()
   where tenant = $tenant and connection_id = $id and status in ('queued', 'sending', 'received', 'answering', 'held')`,
);

const remove = statement('remove-connection', 'delete from channel_connections where id = $id');

/**
 * Deletes a connection and closes its open messages, which would otherwise block later messages of
 * their contacts. False when the connection has been deleted, or has another number by now.
 */
async function removeConnection(tx: Queryable, connection: Connection): Promise<boolean> {
  const { id, phoneNumberId } = connection;
  // A transaction that adds a message to the connection waits for this one, and then finds the
  // connection deleted.
  const { rowCount } = await tx.query(connection, lock, { id, phoneNumberId });
  if (rowCount === 0) return false;
  await tx.query(connection, closeMessages, { id });
  await tx.query(connection, remove, { id });
  return true;
}
