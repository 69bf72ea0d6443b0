import type { Queryable } from './client';
import { newId } from './id';

interface Operation {
  organizationId: string;
  apiKeyId: string;
  operation: string;
  key: string;
  requestHash: Buffer;
}

type State =
  | { state: 'started' }
  | { state: 'running' }
  | { state: 'done'; status: number; body: string }
  | { state: 'other_request' };

/** A claim is renewed by nothing, so it covers the longest request; after it a retry takes the work over. */
const lockSeconds = 120;

/** First answers by Idempotency-Key, in PostgreSQL, kept 24 hours (the port of libs/service). */
export function createIdempotencyStore(db: Queryable) {
  const where = 'api_key_id = $1 and operation = $2 and key = $3';
  const identify = (operation: Operation) => [operation.apiKeyId, operation.operation, operation.key];
  return {
    async begin(operation: Operation): Promise<State> {
      // Claims the key when it is new, outlived, or left behind by a process that died; otherwise changes nothing.
      const { rowCount } = await db.query({
        name: 'idempotency-begin',
        text: `insert into idempotency_records as r
                 (api_key_id, operation, key, id, organization_id, request_hash, locked_until, expires_at)
               values ($1, $2, $3, $4, $5, $6, now() + make_interval(secs => $7), now() + interval '24 hours')
               on conflict (api_key_id, operation, key) do update
                 set request_hash = excluded.request_hash, status = null, body = null, created_at = now(),
                     locked_until = excluded.locked_until, expires_at = excluded.expires_at
                 where r.expires_at < now()
                    or (r.status is null and r.locked_until < now() and r.request_hash = excluded.request_hash)`,
        values: [...identify(operation), newId('idem'), operation.organizationId, operation.requestHash, lockSeconds],
      });
      if (rowCount === 1) return { state: 'started' };
      const { rows } = await db.query<{ request_hash: Buffer; status: number | null; body: string | null }>({
        name: 'idempotency-read',
        text: `select request_hash, status, body from idempotency_records where ${where}`,
        values: identify(operation),
      });
      const row = rows[0];
      if (row && !row.request_hash.equals(operation.requestHash)) return { state: 'other_request' };
      if (row?.status == null || row.body === null) return { state: 'running' };
      return { state: 'done', status: row.status, body: row.body };
    },
    async finish(operation: Operation, status: number, body: string): Promise<void> {
      await db.query(`update idempotency_records set status = $4, body = $5 where ${where}`, [
        ...identify(operation),
        status,
        body,
      ]);
    },
    async abandon(operation: Operation): Promise<void> {
      await db.query(`delete from idempotency_records where ${where} and status is null`, identify(operation));
    },
    /** Removes outlived records; the number removed. */
    async sweep(): Promise<number> {
      const { rowCount } = await db.query('delete from idempotency_records where expires_at < now()');
      return rowCount ?? 0;
    },
  };
}
