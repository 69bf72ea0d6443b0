import type { Scope, TriggerDefinition } from '@parley/contracts';
import { type Db, createDb, newId } from '@parley/db';
import { type StoredEvent, readEvents } from '@parley/events';
import { type NewRun, insertRuns } from '../insert-runs';
import { type ClaimedRun, type RunStep, claimRun } from '../run-store';

/** Longer than any test. */
export const leaseMs = 60_000;
/** A lease that has already expired, like the lease of a killed worker. */
export const expiredLeaseMs = -1_000;
const hourMs = 3_600_000;

export interface RunRow {
  id: string;
  trigger_slug: string;
  status: string;
  attempts: number;
  fence: number;
  lease_expirations: number;
  steps: RunStep[];
  error: string | null;
  run_at: Date;
  lease_until: Date | null;
  enqueued_at: Date | null;
  started_at: Date | null;
  finished_at: Date | null;
}

export interface TestRuns {
  db: Db;
  scope: Scope;
  addTrigger(
    definition: Partial<TriggerDefinition> & { enabled?: boolean; slug: string },
  ): Promise<void>;
  /** A run that is due, for a new entity. */
  newRun(given?: Partial<NewRun>): NewRun;
  /** Inserts a run and returns its id. */
  add(given?: Partial<NewRun>): Promise<string>;
  claim(id: string, forMs?: number): Promise<ClaimedRun>;
  row(id: string): Promise<RunRow>;
  /** The events of a run's results, oldest first. */
  endsOf(id: string): Promise<StoredEvent[]>;
  stop(): Promise<void>;
}

/** The run store on a new database with one organization. */
export async function startRuns(
  database: { url: string; drop(): Promise<void> },
  seed: (pool: Db['pool']) => Promise<{ scope: Scope }>,
): Promise<TestRuns> {
  const db = createDb({ databaseUrl: database.url });
  const { scope } = await seed(db.pool);
  let count = 0;
  const newRun = (given: Partial<NewRun> = {}): NewRun => {
    count += 1;
    return {
      ...scope,
      id: newId('run'),
      triggerSlug: 'on-order',
      cause: `event-${count}`,
      entityId: `entity_${count}`,
      eventId: String(count),
      hops: 1,
      root: null,
      maxAttempts: 3,
      runAtMs: Date.now() - 1_000,
      context: {},
      requestId: null,
      cancelsPrevious: false,
      problem: null,
      ...given,
    };
  };
  return {
    db,
    scope,
    newRun,
    async addTrigger({ enabled = true, slug, ...definition }) {
      await db.pool.query(
        `insert into triggers (id, tenant, environment, slug, name, enabled, entity_type, action, definition, updated_at)
         values ($1, $2, $3::"Environment", $1, $1, $4, 'order', 'updated', $5, now())
         on conflict (tenant, environment, slug) do update set enabled = excluded.enabled, definition = excluded.definition`,
        [
          slug,
          scope.tenant,
          scope.environment,
          enabled,
          JSON.stringify({
            name: slug,
            on: { entityType: 'order', action: 'updated' },
            actions: [],
            ...definition,
          }),
        ],
      );
    },
    async add(given) {
      const run = newRun(given);
      await insertRuns(db, [run]);
      return run.id;
    },
    async claim(id, forMs = leaseMs) {
      const run = await claimRun(db, id, forMs, scope);
      if (run === null) throw new Error(`${id} cannot be claimed`);
      return run;
    },
    async row(id) {
      return (await db.pool.query<RunRow>('select * from trigger_runs where id = $1', [id]))
        .rows[0]!;
    },
    async endsOf(id) {
      const { events } = await readEvents(
        db,
        scope,
        { type: 'trigger.*', since: Date.now() - hourMs },
        10_000,
      );
      return events.filter(({ payload }) => payload.runId === id).reverse();
    },
    async stop() {
      await db.close();
      await database.drop();
    },
  };
}
