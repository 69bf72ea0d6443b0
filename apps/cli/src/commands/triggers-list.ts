import type { JsonObject } from '@parley/contracts';
import { type TriggerSummary, listTriggers } from '@parley/triggers';
import { type ScopeOptions, withScope } from '../scope';
import { formatTable, formatTime, note, print, printJson } from '../terminal';

/** `parley triggers list`: prints the triggers of an environment with their runs of the last day by status. */
export async function runTriggersList(options: ScopeOptions): Promise<void> {
  const { name, triggers } = await withScope(options, async (db, scope) => ({
    name: scope.name,
    triggers: await listTriggers(db, scope),
  }));
  if (options.json) return printJson({ triggers });
  if (triggers.length === 0) return note(`No triggers in ${name}`);
  print(formatTable(['TRIGGER', 'ON', 'NEXT', 'SCHEDULED', 'RUNNING', 'SUCCEEDED', 'DEAD', ''], triggers.map(toRow)));
}

const toRow = ({ slug, enabled, on, nextTickAt, runs }: TriggerSummary): string[] => [
  slug,
  'entityType' in on ? `${on.entityType} ${on.action}${conditionOf(on.condition)}` : on.schedule,
  nextTickAt === null || nextTickAt.getUTCFullYear() > 9000 ? '-' : formatTime(nextTickAt),
  ...['scheduled', 'running', 'succeeded', 'dead'].map((status) => String(runs[status] ?? 0)),
  enabled ? '' : 'disabled',
];

const conditionOf = (condition: JsonObject | undefined): string =>
  condition === undefined || Object.keys(condition).length === 0 ? '' : ` if ${Object.keys(condition).join(', ')}`;
