import type { Queryable, Tenant } from './client';
import { newId } from './id';
import { removeInBatches, removedRows } from './remove-old-rows';
import { column, statement } from './statement';

interface Operation extends Tenant {
  callerId: string;
  operation: string;
  key: string;
  requestHash: Buffer;
}

interface Claim extends Tenant {
  /** Identifies the operation. Stays the same when another attempt takes the claim over. */
  id: string;
  /**
   * Identifies the attempt. An attempt whose claim was taken over can no longer store an answer.
   */
  token: string;
}

type State =
  | { state: 'started'; claim: Claim }
  | { state: 'running' }
  | { state: 'done'; status: number; body: string }
  | { state: 'other_request' };

/**
 * Time after which a claim expires that its process does not renew. Another attempt may
 * then take it over.
 */
const lockSeconds = 15;

/**
 * SQL for statements that create an entity: it stores the entity's id in the idempotency record,
 * and finds it there.
 */
export const idempotentEntitySql = {
  find: 'select entity_id from idempotency_records where tenant = $tenant and id = $idempotencyId',
  /** Stores the id of the only row of `source` in the record with the id `id`. */
  note: (source: string, tenant: string, id: string): string =>
    `update idempotency_records r set entity_id = ${source}.id from ${source} where r.tenant = ${tenant} and r.id = ${id}`,
};

const held =
  'tenant = $tenant and id = $id and created_at = $token::timestamptz and status is null';

/** Claims the key when it is new, expired or released. Otherwise changes nothing. */
const begin = statement(
  'idempotency-begin',
  `insert into idempotency_records as r
     (tenant, caller_id, operation, key, id, request_hash, created_at, locked_until, expires_at)
   values ($tenant, $callerId, $operation, $key, $id, $requestHash, clock_timestamp(),
     now() + make_interval(secs => $lockSeconds),
     now() + interval '24 hours')
   on conflict (caller_id, operation, key, tenant) do update
     set id = case when r.expires_at < excluded.created_at then excluded.id else r.id end,
         entity_id = case when r.expires_at < excluded.created_at then null else r.entity_id end,
         request_hash = excluded.request_hash, status = null, body = null,
         created_at = greatest(excluded.created_at, r.created_at + interval '1 ms'),
         locked_until = excluded.locked_until, expires_at = excluded.expires_at
     where r.expires_at < excluded.created_at
        or (r.status is null and r.locked_until < excluded.created_at and r.request_hash = excluded.request_hash)
   returning id, created_at::text as token`,
  { id: column.text, token: column.text },
);

const read = statement(
  'idempotency-read',
  `select request_hash, status, body from idempotency_records
   where tenant = $tenant and caller_id = $callerId and operation = $operation and key = $key`,
  { request_hash: column.bytea, status: column.int4.nullable, body: column.text.nullable },
);

const renew = statement(
  'idempotency-renew',
  `update idempotency_records set locked_until = now() + make_interval(secs => $lockSeconds) where ${held}`,
);

const finish = statement(
  'idempotency-finish',
  `update idempotency_records set status = $status, body = $body where ${held}`,
);

const abandon = statement(
  'idempotency-abandon',
  `update idempotency_records set locked_until = now() - interval '1 s' where ${held}`,
);

// The condition again, because a key that has expired may be used for a new
// operation at this moment.
const sweep = statement(
  'idempotency-sweep',
  `delete from idempotency_records where expires_at < now() and id = any (array(
     select id from idempotency_records where expires_at < now() order by expires_at limit ${removedRows}))`,
);

/**
 * Stores the answers of idempotency keys in PostgreSQL for 24 hours. Implements `IdempotencyStore`
 * of libs/service.
 */
export function createIdempotencyStore(db: Queryable) {
  return {
    renewEveryMs: (lockSeconds * 1000) / 3,

    async begin(asked: Operation): Promise<State> {
      const { tenant, callerId, operation, key, requestHash } = asked;
      const values = { callerId, operation, key, id: newId('idem'), requestHash, lockSeconds };
      const { rows: claimed } = await db.query(asked, begin, values);
      if (claimed[0]) return { state: 'started', claim: { ...claimed[0], tenant } };
      const { rows } = await db.query(asked, read, { callerId, operation, key });
      const row = rows[0];
      if (row && !row.request_hash.equals(requestHash)) return { state: 'other_request' };
      if (row?.status == null || row.body === null) return { state: 'running' };
      return { state: 'done', status: row.status, body: row.body };
    },

    async renew(claim: Claim): Promise<void> {
      await db.query(claim, renew, { id: claim.id, token: claim.token, lockSeconds });
    },

    /**
     * Stores the answer. Returns false when another attempt has taken the claim over. When called
     * in the transaction of the work, a crash cannot separate the answer from the work.
     */
    async finish(claim: Claim, status: number, body: string): Promise<boolean> {
      const { rowCount } = await db.query(claim, finish, {
        id: claim.id,
        token: claim.token,
        status,
        body,
      });
      return rowCount === 1;
    },

    /**
     * Releases the claim. The record keeps its id for the retry, because the work
     * may have been done.
     */
    async abandon(claim: Claim): Promise<void> {
      await db.query(claim, abandon, { id: claim.id, token: claim.token });
    },

    /** Deletes expired records and returns their number. */
    async sweep(): Promise<number> {
      return removeInBatches(db, sweep);
    },
  };
}
