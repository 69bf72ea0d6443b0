import type { Scope } from '@parley/contracts';
import { type Queryable, column, leaseSql, statement } from '@parley/db';

/** Renewed with every page. An expired lease belongs to a process that has ended. */
const leaseSeconds = 300;

const claim = statement(
  'hold-reconciliation',
  `insert into payment_reconciliations as r (tenant, integration_id, lease_owner, lease_until)
   select tenant, id, $owner, ${leaseSql.until('$leaseSeconds')} from integrations where tenant = $tenant
     and id = $integrationId
   on conflict (integration_id, tenant) do update set lease_owner = excluded.lease_owner, lease_until = excluded.lease_until
     where r.lease_until is null or excluded.lease_until - r.lease_until >= make_interval(secs => $leaseSeconds)
   returning cursor`,
  { cursor: column.text.nullable },
);

/**
 * Claims an integration's reconciliation for one run; null while another run holds it. `cursor`:
 * where to continue.
 */
export async function claimReconciliation(
  db: Queryable,
  scope: Scope,
  integrationId: string,
  owner: string,
): Promise<{ cursor: string | null } | null> {
  const { rows } = await db.query(scope, claim, { integrationId, owner, leaseSeconds });
  return rows[0] ?? null;
}

const save = statement(
  'save-reconciliation',
  `update payment_reconciliations set cursor = $cursor, lease_until = ${leaseSql.until('$leaseSeconds')}
   where tenant = $tenant and integration_id = $integrationId and lease_owner = $owner`,
);

/** Stores the cursor and renews the lease; false when the lease was lost. */
export async function saveReconciliation(
  db: Queryable,
  scope: Scope,
  integrationId: string,
  owner: string,
  cursor: string | null,
): Promise<boolean> {
  const { rowCount } = await db.query(scope, save, { integrationId, owner, cursor, leaseSeconds });
  return rowCount === 1;
}

const finish = statement(
  'finish-reconciliation',
  `update payment_reconciliations set ${leaseSql.release}, finished_at = now(), problem = $problem
   where tenant = $tenant and integration_id = $integrationId and lease_owner = $owner`,
);

/** Releases an integration's reconciliation, with the problem that ended the run. */
export async function finishReconciliation(
  db: Queryable,
  scope: Scope,
  integrationId: string,
  owner: string,
  problem: string | null,
): Promise<void> {
  await db.query(scope, finish, { integrationId, owner, problem });
}
