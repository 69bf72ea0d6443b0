import type { Scope } from '@parley/contracts';
import { type Queryable, column, leaseSql, statement } from '@parley/db';

/** A run renews it with every page; past it, its process is gone. */
const leaseSeconds = 300;

const hold = statement(
  'hold-reconciliation',
  `insert into payment_reconciliations as r (integration_id, lease_owner, lease_until)
   select id, $2, ${leaseSql.until('$3')} from integrations where id = $1
   on conflict (integration_id) do update set lease_owner = excluded.lease_owner, lease_until = excluded.lease_until
     where ${leaseSql.isFree('r.')}
   returning cursor`,
  { cursor: column.text.nullable },
);

/** Takes an integration's reconciliation for one run; null while another run has it. `cursor`: where to go on. */
export async function holdReconciliation(
  db: Queryable,
  scope: Scope,
  integrationId: string,
  owner: string,
): Promise<{ cursor: string | null } | null> {
  const { rows } = await db.query(scope, hold, [integrationId, owner, leaseSeconds]);
  return rows[0] ?? null;
}

const save = statement(
  'save-reconciliation',
  `update payment_reconciliations set cursor = $3, lease_until = ${leaseSql.until('$4')}
   where integration_id = $1 and lease_owner = $2`,
);

/** Notes the place and renews the hold; false when it was lost. */
export async function saveReconciliation(
  db: Queryable,
  scope: Scope,
  integrationId: string,
  owner: string,
  cursor: string | null,
): Promise<boolean> {
  const { rowCount } = await db.query(scope, save, [integrationId, owner, cursor, leaseSeconds]);
  return rowCount === 1;
}

const finish = statement(
  'finish-reconciliation',
  `update payment_reconciliations set ${leaseSql.release}, finished_at = now(), problem = $3
   where integration_id = $1 and lease_owner = $2`,
);

export async function finishReconciliation(
  db: Queryable,
  scope: Scope,
  integrationId: string,
  owner: string,
  problem: string | null,
): Promise<void> {
  await db.query(scope, finish, [integrationId, owner, problem]);
}
