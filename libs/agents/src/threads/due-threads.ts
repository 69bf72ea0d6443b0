import type { Scope } from '@parley/contracts';
import {
  type Queryable,
  type RowOf,
  claimByTenant,
  column,
  leaseSql,
  scopeColumns,
  scopeRow,
  statement,
} from '@parley/db';
import { lockThread, resumeThread } from './people';
import { contactNameChars } from './read-threads';

const since = 'least(resumes_at, notify_at)';
const isTimed = `state <> 'agent' and ${since} is not null`;
const dueRow = { ...scopeRow, id: column.text };

const dueThreads = {
  tenants: leaseSql.tenants('due-thread-tenants', { table: 'threads', where: isTimed, since }),
  due: statement(
    'due-threads',
    `select ${scopeColumns('t.')}, id from threads t
     where tenant = $tenant and ${isTimed} and ${since} <= now() order by ${since}, id limit $limit offset $offset`,
    dueRow,
  ),
};

/** Finds threads whose takeover or wait has ended, or about which members get an e-mail. */
export const findDueThreads = (db: Queryable, limit: number): Promise<RowOf<typeof dueRow>[]> =>
  claimByTenant(db, dueThreads, limit);

const expiredThreads = {
  tenants: leaseSql.tenants('expired-thread-tenants', {
    table: 'threads',
    where: 'true',
    since: 'erase_at',
  }),
  due: statement(
    'expired-threads',
    `select ${scopeColumns('t.')}, id from threads t
     where tenant = $tenant and erase_at <= now() order by erase_at, id limit $limit offset $offset`,
    dueRow,
  ),
};

/** Finds threads of single requests that are to be erased. */
export const findExpiredThreads = (db: Queryable, limit: number): Promise<RowOf<typeof dueRow>[]> =>
  claimByTenant(db, expiredThreads, limit);

const noticeRow = {
  reason: column.text.nullable,
  contactName: column.text.nullable,
  waitingSince: column.timestamptz.nullable,
};

const takeNotice = statement(
  'take-notice-of-thread',
  `update threads set notify_at = null where tenant = $tenant and id = $id and notify_at <= now()
   returning waiting_reason as reason, left(params->>'contactName', ${contactNameChars}) as "contactName", waiting_since as "waitingSince"`,
  noticeRow,
);

export interface DueThread {
  /** The request of the contact's last message, if the agent answers again and it has no answer. */
  unanswered: string | null;
  /** An e-mail says that the thread waits. */
  notice: RowOf<typeof noticeRow> | null;
}

/**
 * Does what is due in a thread, in the caller's transaction. Null when another process has done it.
 */
export async function settleDueThread(
  tx: Queryable,
  scope: Scope,
  id: string,
): Promise<DueThread | null> {
  const thread = await lockThread(tx, scope, id);
  if (thread === null || thread.state === 'agent') return null;
  if (thread.resumesAt !== null && thread.resumesAt.getTime() <= Date.now())
    return { unanswered: await resumeThread(tx, scope, thread), notice: null };
  const [notice] = (await tx.query(scope, takeNotice, { id: thread.id })).rows;
  return notice === undefined ? null : { unanswered: null, notice };
}
