import { type TriggerRun, findRun } from '@parley/triggers';
import { Failure } from '../failure';
import { cutText, safeLine } from '../safe-text';
import { type ScopeOptions, withScope } from '../scope';
import { colors, formatDuration, formatFields, formatTime, print, printJson, timeZone } from '../terminal';

/** `parley triggers show <run>`: prints the steps of a run with their attempts. */
export async function runTriggersShow(
  id: string,
  { full, json, ...options }: ScopeOptions & { full?: boolean },
): Promise<void> {
  const run = await withScope(options, async (db, scope) => {
    const found = await findRun(db, scope, id);
    if (found === null) throw new Failure(`No run "${id}" in ${scope.name}`);
    return found;
  });
  if (json) return printJson(run);
  print(formatHead(run));
  print();
  print(colors.bold('steps'));
  run.steps.forEach((step, index) => print(formatStep(step, index + 1, full ? Infinity : 500)));
  if (run.steps.length === 0) print('  none');
}

const formatHead = (run: TriggerRun): string =>
  formatFields({
    run: run.id,
    trigger: run.triggerSlug,
    cause: run.cause,
    entity: run.entityId ?? undefined,
    status: run.status,
    error: run.error ?? undefined,
    attempts: `${run.attempts} of ${run.maxAttempts}`,
    hops: String(run.hops),
    root: run.root,
    refused: run.refusedRuns === 0 ? undefined : String(run.refusedRuns),
    request: run.requestId ?? undefined,
    created: `${formatTime(run.createdAt)} (${timeZone()})`,
    due: formatTime(run.runAt),
    started: run.startedAt === null ? undefined : formatTime(run.startedAt),
    took:
      run.startedAt === null || run.finishedAt === null
        ? undefined
        : formatDuration(run.finishedAt.getTime() - run.startedAt.getTime()),
  });

function formatStep(
  { tool, as, status, attempt, durationMs, args, result, error }: TriggerRun['steps'][number],
  number: number,
  cut: number,
) {
  const margin = ' '.repeat(`  ${number}. `.length);
  const called = `${safeLine(tool)}${as === undefined ? '' : ` as ${safeLine(as)}`}`;
  const given = args === undefined ? '' : ` ${safeLine(cutText(JSON.stringify(args), cut))}`;
  const outcome = `${status === 'error' ? colors.red('error') : 'ok'}, attempt ${attempt}, ${formatDuration(durationMs)}`;
  const answer = error ?? (result === undefined ? '' : JSON.stringify(result));
  return `  ${number}. ${called}${given}\n${margin}${outcome}${answer === '' ? '' : `  ${safeLine(cutText(answer, cut))}`}`;
}
