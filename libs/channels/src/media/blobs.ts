import type { Scope } from '@parley/contracts';
import { type Queryable, type RowOf, type Tenant } from '@parley/db';
import { claimByTenant, column, leaseSql, scopeColumns, scopeRow, statement } from '@parley/db';
import type { MessageOfTenant } from '../whatsapp/outbox';

/** Maximum size of a stored file, in bytes: what fits into one row with its copies in memory. */
export const maxBlobBytes = 25 * 1024 * 1024;

/** Longer than the time limit of the fetch. */
const leaseSeconds = 90;

const addPending = statement(
  'add-pending-blob',
  `insert into blobs (id, tenant, environment, status, url, filename, updated_at)
   values ($messageId, $tenant, $environment::"Environment", 'pending', $url, $filename, now())
     on conflict (id, tenant) do nothing`,
);

/** Notes in the transaction that stores a message that its file is to be fetched. */
export async function addPendingBlob(
  tx: Queryable,
  scope: Scope,
  { messageId, url, filename }: { messageId: string; url: string; filename: string | null },
): Promise<void> {
  await tx.query(scope, addPending, {
    messageId,
    environment: scope.environment,
    url,
    filename: filename?.slice(0, 200),
  });
}

const addReady = statement(
  'add-blob',
  `insert into blobs (id, tenant, environment, status, filename, content_type, bytes, updated_at)
   values ($messageId, $tenant, $environment::"Environment", 'ready', $filename, $contentType, $bytes, now())
     on conflict (id, tenant) do nothing`,
);

/** Stores the file that a person attached to a message. */
export async function addBlob(
  tx: Queryable,
  scope: Scope,
  { messageId, filename, contentType, bytes }: BlobFile & { messageId: string },
): Promise<void> {
  await tx.query(scope, addReady, {
    messageId,
    environment: scope.environment,
    filename,
    contentType,
    bytes,
  });
}

export interface BlobFile {
  filename: string | null;
  contentType: string;
  bytes: Buffer;
}

const copyOf = statement(
  'copy-blob',
  `insert into blobs (id, tenant, environment, status, url, filename, content_type, bytes, updated_at)
   select $to, tenant, environment, status, url, filename, content_type, bytes, now() from blobs
   where tenant = $tenant and id = $from and status = 'ready' on conflict (id, tenant) do nothing`,
);

/** Copies the file of a message to the message that replaces it. */
export async function copyBlob(
  tx: Queryable,
  { tenant }: Tenant,
  from: string,
  to: string,
): Promise<void> {
  await tx.query({ tenant }, copyOf, { from, to });
}

const file = {
  status: column.oneOf<'pending' | 'fetching' | 'ready' | 'failed'>(),
  filename: column.text.nullable,
  contentType: column.text.nullable,
  bytes: column.bytea.nullable,
  error: column.text.nullable,
};

const blobOfMessage = statement(
  'read-blob',
  `select status, filename, content_type as "contentType", bytes, error from blobs
   where tenant = $tenant and id = $messageId and environment = $environment::"Environment"`,
  file,
);

/** Reads the file of a message; null when the message has none. */
export const readBlob = async (
  db: Queryable,
  scope: Scope,
  messageId: string,
): Promise<RowOf<typeof file> | null> =>
  (await db.query(scope, blobOfMessage, { messageId, environment: scope.environment })).rows[0] ??
  null;

const pending = "status in ('pending', 'fetching')";
const dueBlobs = {
  tenants: leaseSql.tenants('due-blob-tenants', { table: 'blobs', where: pending }),
  due: statement(
    'due-blobs',
    `select id, tenant from blobs where tenant = $tenant and ${pending} and ${leaseSql.isFree()}
     order by ${leaseSql.dueSince}, id limit $limit offset $offset`,
    { id: column.text, tenant: column.int4 },
  ),
};

/** Finds files that are to be fetched. */
export const findDueBlobs = (db: Queryable, limit: number): Promise<MessageOfTenant[]> =>
  claimByTenant(db, dueBlobs, limit);

const claimed = { id: column.text, ...scopeRow, url: column.text, attempts: column.int4 };

const claim = statement(
  'claim-blob',
  `update blobs b set status = 'fetching', lease_owner = $owner, attempts = attempts + 1, updated_at = now(),
                    lease_until = ${leaseSql.until(leaseSeconds)}
   where tenant = $tenant and id = $id and ${pending} and ${leaseSql.isFree()} and url is not null
   returning b.id, ${scopeColumns('b.')}, b.url, b.attempts`,
  claimed,
);

/** Takes a file to fetch it. Null when another process has it, or when it is not due. */
export const claimBlob = async (db: Queryable, blob: MessageOfTenant, owner: string) =>
  (await db.query(blob, claim, { id: blob.id, owner })).rows[0] ?? null;

const setReady = statement(
  'store-fetched-blob',
  `update blobs set status = 'ready', content_type = $contentType, bytes = $bytes, error = null, ${leaseSql.release},
     updated_at = now()
   where ${leaseSql.isHeld('fetching')}`,
);

export async function storeFetched(
  db: Queryable,
  blob: MessageOfTenant,
  owner: string,
  { contentType, bytes }: Pick<BlobFile, 'contentType' | 'bytes'>,
): Promise<void> {
  await db.query(blob, setReady, { id: blob.id, owner, contentType, bytes });
}

const setLater = statement(
  'fetch-blob-later',
  `update blobs set status = 'pending', error = $error, ${leaseSql.postpone('$afterMs')}, updated_at = now()
   where ${leaseSql.isHeld('fetching')}`,
);

const setFailed = statement(
  'fail-blob',
  `update blobs set status = 'failed', error = $error, ${leaseSql.release}, updated_at = now()
   where ${leaseSql.isHeld('fetching')}`,
);

/** Notes why a file was not fetched. `afterMs`: the next attempt; null when there is none. */
export async function noteFetchFailure(
  db: Queryable,
  blob: MessageOfTenant,
  owner: string,
  { error, afterMs }: { error: string; afterMs: number | null },
): Promise<void> {
  const values = { id: blob.id, owner, error: error.slice(0, 500) };
  if (afterMs === null) await db.query(blob, setFailed, values);
  else await db.query(blob, setLater, { ...values, afterMs });
}
