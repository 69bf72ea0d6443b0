import { inTransaction } from '@parley/db';
import { purgeEntities } from '@parley/entities';
import { finishPurge, reportPurged } from '@parley/identity';
import type pg from 'pg';

const batchRows = 1_000;

/** Deletes up to a batch, and answers how many rows of which tables. */
type Step = (tx: pg.PoolClient, organizationId: string) => Promise<Record<string, number>>;

/** Rows of a table that carries `organization_id`; what cascades from them is small. */
const rowsOf =
  (table: string): Step =>
  async (tx, organizationId) => {
    const { rowCount } = await tx.query(
      `delete from ${table} where ctid = any (array(select ctid from ${table} where organization_id = $1 limit ${batchRows}))`,
      [organizationId],
    );
    return { [table]: rowCount ?? 0 };
  };

/** Turns with what was said and called in them, which carry no organization of their own. */
const executions: Step = async (tx, organizationId) => {
  const { rows } = await tx.query<{ id: string }>(
    `select id::text from executions where organization_id = $1 limit ${batchRows / 5}`,
    [organizationId],
  );
  const ids = [rows.map(({ id }) => id)];
  const messages = await tx.query('delete from thread_messages where execution_id = any($1::bigint[])', ids);
  const calls = await tx.query('delete from tool_calls where execution_id = any($1::bigint[])', ids);
  const gone = await tx.query('delete from executions where id = any($1::bigint[])', ids);
  return {
    thread_messages: messages.rowCount ?? 0,
    tool_calls: calls.rowCount ?? 0,
    executions: gone.rowCount ?? 0,
  };
};

const entities: Step = async (tx, organizationId) => ({ entities: await purgeEntities(tx, organizationId) });

/**
 * Everything that belongs to an organization, in an order in which nothing new is made of it meanwhile: first the keys,
 * then what would answer or run, then the data. Its own row goes last.
 */
const steps: readonly Step[] = [
  rowsOf('api_keys'),
  rowsOf('channel_connections'),
  rowsOf('integrations'),
  rowsOf('triggers'),
  rowsOf('trigger_runs'),
  rowsOf('agents'),
  rowsOf('routers'),
  rowsOf('tools'),
  rowsOf('roles'),
  rowsOf('environment_states'),
  executions,
  rowsOf('threads'),
  rowsOf('messages'),
  rowsOf('contact_aliases'),
  rowsOf('emails'),
  entities,
  rowsOf('entity_relations'),
  rowsOf('entity_types'),
  rowsOf('events'),
  rowsOf('idempotency_records'),
  rowsOf('processed_payments'),
  rowsOf('credit_entries'),
  rowsOf('webhook_deliveries'),
  rowsOf('memberships'),
];

/**
 * Deletes all data of an organization for good, a batch a transaction, each of which adds to the report of the purge: a
 * run that was cut short goes on where it stopped. Returns the report; null when `signal` stopped it.
 */
export async function purgeOrganization(
  pool: pg.Pool,
  organizationId: string,
  signal: AbortSignal,
): Promise<Record<string, number> | null> {
  for (let deleted = -1; deleted !== 0;) {
    deleted = 0;
    for (const step of steps) {
      for (let ofStep = -1; ofStep !== 0;) {
        if (signal.aborted) return null;
        ofStep = await inTransaction(pool, async (tx) => {
          const counts = await step(tx, organizationId);
          const sum = Object.values(counts).reduce((total, count) => total + count, 0);
          if (sum > 0) await reportPurged(tx, organizationId, counts);
          return sum;
        });
        deleted += ofStep;
      }
    }
  }
  return inTransaction(pool, (tx) => finishPurge(tx, organizationId));
}
