import type { JsonObject, TriggerDefinition } from '@parley/contracts';
import { type ScopeOptions, withScope } from '../scope';
import { formatTable, formatTime, note, print, printJson } from '../terminal';

interface TriggerRow {
  slug: string;
  name: string;
  enabled: boolean;
  on: TriggerDefinition['on'];
  nextTickAt: Date | null;
  /** Runs by status: those that are not finished, and those of the last day. */
  runs: Record<string, number>;
}

const sql = `
  select t.slug, t.name, t.enabled, t.definition->'on' as on, t.next_tick_at as "nextTickAt",
    coalesce((select jsonb_object_agg(status, count) from (
      select status, count(*) from trigger_runs r
      where r.organization_id = t.organization_id and r.environment = t.environment and r.trigger_slug = t.slug
        and (r.status in ('scheduled', 'running') or r.created_at > now() - interval '1 day') group by status) c), '{}') as runs
  from triggers t where t.organization_id = $1 and t.environment = $2::"Environment" order by t.slug`;

/** `parley triggers list`: what runs by itself in an environment. */
export async function runTriggersList(options: ScopeOptions & { json?: boolean }): Promise<void> {
  const { name, rows } = await withScope(options, async (db, scope) => ({
    name: scope.name,
    ...(await db.query<TriggerRow>(sql, [scope.organizationId, scope.environment])),
  }));
  if (options.json) return printJson({ triggers: rows });
  if (rows.length === 0) return note(`No triggers in ${name}`);
  print(formatTable(['TRIGGER', 'ON', 'NEXT', 'WAITING', 'RUNNING', 'DONE', 'DEAD', ''], rows.map(toRow)));
}

const toRow = ({ slug, enabled, on, nextTickAt, runs }: TriggerRow): string[] => [
  slug,
  'entityType' in on ? `${on.entityType} ${on.action}${conditionOf(on.condition)}` : on.schedule,
  nextTickAt === null || nextTickAt.getUTCFullYear() > 9000 ? '-' : formatTime(nextTickAt),
  ...['scheduled', 'running', 'succeeded', 'dead'].map((status) => String(runs[status] ?? 0)),
  enabled ? '' : 'disabled',
];

const conditionOf = (condition: JsonObject | undefined): string =>
  condition === undefined || Object.keys(condition).length === 0 ? '' : ` if ${Object.keys(condition).join(', ')}`;
