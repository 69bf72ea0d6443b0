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
  | { state: 'started'; id: string }
  | { state: 'running' }
  | { state: 'done'; status: number; body: string }
  | { state: 'other_request' };

/** A claim that was not renewed for this long was left behind by a process that died: a retry takes the work over. */
const lockSeconds = 15;

/** First answers by Idempotency-Key, in PostgreSQL, kept 24 hours (the port of libs/service). */
export function createIdempotencyStore(db: Queryable) {
  const where = 'api_key_id = $1 and operation = $2 and key = $3';
  const identify = (operation: Operation) => [operation.apiKeyId, operation.operation, operation.key];
  return {
    renewEveryMs: (lockSeconds * 1000) / 3,
    async begin(operation: Operation): Promise<State> {
      // Claims the key when it is new, outlived, or left behind; otherwise changes nothing. A claim that is taken over
      // keeps its id, so that what the first try may have created under it is found and not created again.
      const { rows: claimed } = await db.query<{ id: string }>({
        name: 'idempotency-begin',
        text: `insert into idempotency_records as r
                 (api_key_id, operation, key, id, organization_id, request_hash, locked_until, expires_at)
               values ($1, $2, $3, $4, $5, $6, now() + make_interval(secs => $7), now() + interval '24 hours')
               on conflict (api_key_id, operation, key) do update
                 set id = case when r.expires_at < now() then excluded.id else r.id end,
                     request_hash = excluded.request_hash, status = null, body = null, created_at = now(),
                     locked_until = excluded.locked_until, expires_at = excluded.expires_at
                 where r.expires_at < now()
                    or (r.status is null and r.locked_until < now() and r.request_hash = excluded.request_hash)
               returning id`,
        values: [...identify(operation), newId('idem'), operation.organizationId, operation.requestHash, lockSeconds],
      });
      if (claimed[0]) return { state: 'started', id: claimed[0].id };
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
    async renew(operation: Operation): Promise<void> {
      await db.query(
        `update idempotency_records set locked_until = now() + make_interval(secs => $4)
         where ${where} and status is null`,
        [...identify(operation), lockSeconds],
      );
    },
    async finish(operation: Operation, status: number, body: string): Promise<void> {
      await db.query(`update idempotency_records set status = $4, body = $5 where ${where} and status is null`, [
        ...identify(operation),
        status,
        body,
      ]);
    },
    /** Open for a retry at once. The record stays: whether the work took place may be unknown, and its id tells. */
    async abandon(operation: Operation): Promise<void> {
      await db.query(
        `update idempotency_records set locked_until = now() - interval '1 second' where ${where} and status is null`,
        identify(operation),
      );
    },
    /** Removes outlived records; the number removed. */
    async sweep(): Promise<number> {
      const { rowCount } = await db.query('delete from idempotency_records where expires_at < now()');
      return rowCount ?? 0;
    },
  };
}
