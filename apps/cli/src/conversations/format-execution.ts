import type { Execution, ExecutionSummary } from '@parley/agents';
import { cutText, safeLine } from '../safe-text';
import { colors, formatDuration, formatFields, formatTime, indentText, timeZone } from '../terminal';
import type { ExecutionStatus } from '../statuses';
import { type ModelStep, type Step, type ToolStep, stepsOf } from './steps';

/** The length, in characters, at which each kind of text is cut; `--full` cuts none. */
export interface Cuts {
  message: number;
  args: number;
  result: number;
}

export const cutsOf = (full: boolean | undefined): Cuts =>
  full ? { message: Infinity, args: Infinity, result: Infinity } : { message: 2000, args: 300, result: 500 };

/** Time from start to end; null before the end. */
export const durationOf = ({ startedAt, finishedAt }: ExecutionSummary): string | null =>
  startedAt === null || finishedAt === null ? null : formatDuration(finishedAt.getTime() - startedAt.getTime());

const isTrouble = (status: ExecutionStatus | Step['status']): boolean =>
  ['failed', 'stalled', 'error', 'unknown'].includes(status);

export const colorStatus = (status: ExecutionStatus | Step['status'], text: string = status): string =>
  isTrouble(status) ? colors.red(text) : text;

export function formatExecution(execution: Execution, cuts: Cuts): string {
  const { input, output } = execution;
  const parts = [
    formatHead(execution),
    formatSection('input', input, cuts),
    [colors.bold('steps'), ...stepsOf(execution).map((step, index) => formatStep(step, index + 1, cuts))].join('\n'),
  ];
  if (output !== null) parts.push(formatSection('output', output || '(empty)', cuts));
  return parts.join('\n\n');
}

const formatSection = (title: string, text: string, cuts: Cuts): string =>
  `${colors.bold(title)}\n${indentText(cutText(text, cuts.message))}`;

function formatHead(execution: Execution): string {
  const { id, threadId, agentSlug, routerSlug, status, model, error, requestId, createdAt, startedAt } = execution;
  const waitedMs = startedAt === null ? null : startedAt.getTime() - createdAt.getTime();
  return formatFields({
    execution: id,
    thread: threadId,
    agent: agentSlug ?? '-',
    router: routerSlug ?? undefined,
    status,
    error: error ?? undefined,
    request: requestId ?? '-',
    model: model ?? '-',
    tokens: formatTokens(execution),
    created: `${formatTime(createdAt)} (${timeZone()})`,
    waited: waitedMs === null ? undefined : formatDuration(waitedMs),
    took: durationOf(execution) ?? undefined,
  });
}

function formatTokens(used: { inputTokens?: number; outputTokens?: number; reasoningTokens?: number | null }): string {
  const { inputTokens = 0, outputTokens = 0, reasoningTokens } = used;
  const tokens = `${inputTokens} in, ${outputTokens} out`;
  return reasoningTokens == null ? tokens : `${tokens} (${reasoningTokens} reasoning)`;
}

const formatStep = (step: Step, number: number, cuts: Cuts): string =>
  step.kind === 'model' ? formatModelStep(step, number) : formatToolStep(step, number, cuts);

function formatModelStep({ name, status, error, durationMs, ...used }: ModelStep, number: number): string {
  const outcome = status === 'error' ? `error: ${safeLine(error ?? '?')}` : formatTokens(used);
  return `  ${number}. model ${safeLine(name)}  ${colorStatus(status, outcome)}  ${formatDuration(durationMs)}`;
}

function formatToolStep(step: ToolStep, number: number, cuts: Cuts): string {
  const { args, result } = formatCall(step, cuts);
  const margin = ' '.repeat(`  ${number}. `.length);
  return `  ${number}. tool ${safeLine(step.name)} ${args}\n${margin}${result}`;
}

/** The two lines of a tool call: its arguments, and its outcome, duration and result. */
export function formatCall(
  { args, status, result, durationMs }: ToolStep,
  cuts: Cuts,
): { args: string; result: string } {
  const outcome = {
    success: 'ok',
    error: 'error',
    running: 'still running',
    unknown: 'interrupted: the call may or may not have taken effect',
  }[status];
  const timed = durationMs === null ? outcome : `${outcome}, ${formatDuration(durationMs)}`;
  const text = result === null ? '' : `  ${safeLine(cutText(result, cuts.result))}`;
  return { args: safeLine(cutText(JSON.stringify(args), cuts.args)), result: `${colorStatus(status, timed)}${text}` };
}
