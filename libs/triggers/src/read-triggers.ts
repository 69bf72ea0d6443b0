import type { Scope, TriggerDefinition } from '@parley/contracts';
import {
  type Page,
  type Paged,
  type Queryable,
  type RowOf,
  column,
  listStatement,
  statement,
  toPaged,
} from '@parley/db';

const triggerRow = {
  slug: column.text,
  name: column.text,
  enabled: column.bool,
  on: column.jsonb<TriggerDefinition['on']>(),
  definition: column.jsonb<Omit<TriggerDefinition, 'slug'>>(),
  nextTickAt: column.timestamptz.nullable,
  /** Number of runs by status: unfinished ones, and those created in the last 24 hours. */
  runs: column.jsonb<Record<string, number>>(),
};
export type TriggerSummary = RowOf<typeof triggerRow>;

const triggersOfEnvironment = listStatement(
  'list-triggers',
  `select t.slug, t.name, t.enabled, t.definition->'on' as on, t.definition, t.next_tick_at as "nextTickAt",
     coalesce((select jsonb_object_agg(status, count) from (
       select status, count(*) from trigger_runs r
       where r.tenant = $tenant and r.environment = t.environment and r.trigger_slug = t.slug
         and (r.status in ('scheduled', 'running') or r.created_at > now() - interval '1 day') group by status) c), '{}') as runs
   from triggers t where t.tenant = $tenant and t.environment = $environment::"Environment"
     and ($afterSlug::text is null or t.slug > $afterSlug)
   order by t.slug limit $limit`,
  triggerRow,
);

const triggerOfSlug = statement(
  'find-trigger',
  'select from triggers where tenant = $tenant and environment = $environment::"Environment" and slug = $slug',
);

/** Whether an environment has a trigger. */
export async function hasTrigger(db: Queryable, scope: Scope, slug: string): Promise<boolean> {
  return (
    (await db.query(scope, triggerOfSlug, { environment: scope.environment, slug })).rowCount === 1
  );
}

/** Slugs order the list alone. */
const anyTime = new Date(0);

/** The triggers of an environment with the numbers of their runs, ordered by slug. */
export async function listTriggers(
  db: Queryable,
  scope: Scope,
  page: Page,
): Promise<Paged<TriggerSummary>> {
  const values = {
    environment: scope.environment,
    afterSlug: page.before?.id,
    limit: page.limit + 1,
  };
  const { rows } = await db.query(scope, triggersOfEnvironment, values);
  return toPaged(rows, page, ({ slug }) => ({ at: anyTime, id: slug }));
}
