import type { ResultOf } from '@parley/client/manage';
import { type KeyOptions, withManage } from '../manage';
import { cutText, safeLine } from '../safe-text';
import {
  colors,
  formatDuration,
  formatFields,
  formatTime,
  print,
  printJson,
  timeZone,
} from '../terminal';
import { tookOf } from '../triggers/took-of';

type TriggerRun = ResultOf<'getTriggerRun'>;

/** `parley triggers show <run>`: prints the steps of a run with their attempts. */
export async function runTriggersShow(
  id: string,
  { full, json, ...options }: KeyOptions & { full?: boolean },
): Promise<void> {
  const run = await withManage(options, (manage) => manage.getTriggerRun({ id }));
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
    'fired by': run.author ? `${run.author.type} ${run.author.id}` : undefined,
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
    took: tookOf(run),
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
