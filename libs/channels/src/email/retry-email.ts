import type { Scope } from '@parley/contracts';
import { type Queryable, column, leaseSql, statement } from '@parley/db';
import { keyLifeHours } from './emails';

const lock = statement(
  'lock-email',
  `select status, payload is not null as "hasContent", created_at > now() - interval '${keyLifeHours} hours' as "isKeyKept"
   from emails where tenant = $tenant and environment = $environment::"Environment" and id = $id for update`,
  { status: column.text, hasContent: column.bool, isKeyKept: column.bool },
);

const reopen = statement(
  'retry-email',
  `update emails set status = 'queued', attempts = 0, error = null, ${leaseSql.release}, updated_at = now()
   where tenant = $tenant and id = $id`,
);

/**
 * Queues a failed e-mail again. One that may have been sent (`unknown`) is harmless to repeat while
 * the provider keeps its idempotency key; later it is `in_doubt` and needs `anyway`.
 */
export async function retryEmail(
  tx: Queryable,
  scope: Scope,
  id: string,
  { anyway }: { anyway: boolean },
): Promise<'queued' | 'not_failed' | 'in_doubt'> {
  const [email] = (await tx.query(scope, lock, { environment: scope.environment, id })).rows;
  if (email === undefined || !email.hasContent || !['failed', 'unknown'].includes(email.status))
    return 'not_failed';
  if (email.status === 'unknown' && !email.isKeyKept && !anyway) return 'in_doubt';
  await tx.query(scope, reopen, { id });
  return 'queued';
}
