import { type TriggerRunSummary, listRuns } from '@parley/triggers';
import type { RunStatus } from '../statuses';
import { type PageOptions, parsePage } from '../page';
import { previewOf } from '../safe-text';
import { type ScopeOptions, withScope } from '../scope';
import { formatDuration, formatTable, formatTime, note, print, printJson } from '../terminal';

export interface TriggersRunsOptions extends ScopeOptions, PageOptions {
  status?: RunStatus;
  entity?: string;
}

/** `parley triggers runs [trigger]`: prints runs, newest first. */
export async function runTriggersRuns(trigger: string | undefined, options: TriggersRunsOptions): Promise<void> {
  const page = parsePage(options, /^run_[0-9a-z]{1,40}$/);
  const filter = { triggerSlug: trigger, status: options.status, entityId: options.entity };
  const { name, items, next } = await withScope(options, async (db, scope) => ({
    name: scope.name,
    ...(await listRuns(db, scope, { ...page, ...filter })),
  }));
  if (options.json) return printJson({ runs: items, next });
  if (items.length === 0) return note(`No${page.before ? ' more' : ''} matching runs in ${name}`);
  print(
    formatTable(['RUN', 'CREATED', 'TRIGGER', 'CAUSE', 'ENTITY', 'STATUS', 'ATTEMPTS', 'TOOK', ''], items.map(toRow)),
  );
  if (next !== null) note(`Next page: --before ${next}`);
}

const toRow = (run: TriggerRunSummary): string[] => [
  run.id,
  formatTime(run.createdAt),
  run.triggerSlug,
  run.cause.replace(/-.*$/, ''),
  run.entityId ?? '-',
  run.status,
  `${run.attempts} of ${run.maxAttempts}`,
  run.startedAt === null || run.finishedAt === null
    ? '-'
    : formatDuration(run.finishedAt.getTime() - run.startedAt.getTime()),
  run.status === 'scheduled' && run.error === null ? `due ${formatTime(run.runAt)}` : previewOf(run.error ?? '', 60),
];
