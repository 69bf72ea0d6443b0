import type { ResultOf } from '@parley/client/manage';
import { cutText, safeLine } from '../safe-text';
import type { ExecutionStatus } from '../statuses';
import {
  colors,
  formatBytes,
  formatDuration,
  formatFields,
  formatTime,
  indentText,
  timeZone,
} from '../terminal';

export type Execution = ResultOf<'getExecution'>;
type Step = Execution['steps'][number];
type ModelStep = Extract<Step, { type: 'model' }>;
export type ToolStep = Extract<Step, { type: 'tool' }>;

/** The length, in characters, at which each kind of text is cut; `--full` cuts none. */
export interface Cuts {
  message: number;
  args: number;
  result: number;
}

export const cutsOf = (full: boolean | undefined): Cuts =>
  full
    ? { message: Infinity, args: Infinity, result: Infinity }
    : { message: 2000, args: 300, result: 500 };

/** Time from start to end; null before the end. */
export const tookOf = ({ durationMs }: Pick<Execution, 'durationMs'>): string | null =>
  durationMs === null ? null : formatDuration(durationMs);

const isTrouble = (status: ExecutionStatus | Step['status']): boolean =>
  ['failed', 'stalled', 'error', 'unknown'].includes(status);

export const colorStatus = (
  status: ExecutionStatus | Step['status'],
  text: string = status,
): string => (isTrouble(status) ? colors.red(text) : text);

export function formatExecution(execution: Execution, cuts: Cuts): string {
  const { input, output } = execution;
  const parts = [
    formatHead(execution),
    formatSection('input', input, cuts),
    [
      colors.bold('steps'),
      ...execution.steps.map((step, index) => formatStep(step, index + 1, cuts)),
    ].join('\n'),
  ];
  if (output !== null) parts.push(formatSection('output', output || '(empty)', cuts));
  return parts.join('\n\n');
}

const formatSection = (title: string, text: string, cuts: Cuts): string =>
  `${colors.bold(title)}\n${indentText(cutText(text, cuts.message))}`;

function formatHead(execution: Execution): string {
  const {
    id,
    threadId,
    agentSlug,
    routerSlug,
    status,
    model,
    error,
    requestId,
    createdAt,
    startedAt,
  } = execution;
  const { finishReason } = execution;
  const waitedMs = startedAt === null ? null : startedAt - createdAt;
  return formatFields({
    execution: id,
    thread: threadId,
    agent: agentSlug ?? '-',
    router: routerSlug ?? undefined,
    status,
    error: error ?? undefined,
    ended: isWhole(finishReason) ? undefined : finishReason,
    request: requestId ?? '-',
    model: model ?? '-',
    tokens: formatTokens(execution),
    created: `${formatTime(createdAt)} (${timeZone()})`,
    waited: waitedMs === null ? undefined : formatDuration(waitedMs),
    took: tookOf(execution) ?? undefined,
  });
}

function formatTokens({
  inputTokens,
  outputTokens,
  reasoningTokens,
}: Pick<Execution, 'inputTokens' | 'outputTokens' | 'reasoningTokens'>): string {
  const tokens = `${inputTokens} in, ${outputTokens} out`;
  return reasoningTokens === null ? tokens : `${tokens} (${reasoningTokens} reasoning)`;
}

const formatStep = (step: Step, number: number, cuts: Cuts): string =>
  step.type === 'model' ? formatModelStep(step, number) : formatToolStep(step, number, cuts);

type FinishReason = Execution['finishReason'];

const isWhole = (reason: FinishReason): reason is 'stop' | 'tool_calls' | null =>
  reason === null || reason === 'stop' || reason === 'tool_calls';

function formatModelStep(
  { model, status, error, finishReason, durationMs, ...used }: ModelStep,
  number: number,
): string {
  const outcome = status === 'error' ? `error: ${safeLine(error ?? '?')}` : formatTokens(used);
  const end = isWhole(finishReason) ? '' : `  ${colors.red(finishReason)}`;
  return `  ${number}. model ${safeLine(model)}  ${colorStatus(status, outcome)}${end}  ${formatDuration(durationMs)}`;
}

function formatToolStep(step: ToolStep, number: number, cuts: Cuts): string {
  const { args, result } = formatCall(step, cuts);
  const margin = ' '.repeat(`  ${number}. `.length);
  return `  ${number}. tool ${safeLine(step.name)} ${args}\n${margin}${result}`;
}

/** The two lines of a tool call: its arguments, and its outcome, duration and result. */
export function formatCall(step: ToolStep, cuts: Cuts): { args: string; result: string } {
  const { status, durationMs } = step;
  const outcome = {
    success: 'ok',
    error: 'error',
    running: 'still running',
    unknown: 'interrupted: the call may or may not have taken effect',
  }[status];
  const timed = durationMs === null ? outcome : `${outcome}, ${formatDuration(durationMs)}`;
  const text = resultText(step);
  const shown = text === null ? '' : `  ${safeLine(cutText(text, cuts.result))}`;
  const args = safeLine(cutText(step.argumentsStart ?? JSON.stringify(step.arguments), cuts.args));
  return { args, result: `${colorStatus(status, timed)}${shown}` };
}

/** Text unchanged, other values as JSON, errors as type and message. */
function resultText({
  status,
  result,
  resultStart,
  errorType,
  errorMessage,
  permission,
}: ToolStep): string | null {
  if (status === 'error') {
    const denied = permission?.allowed === false ? ` (${permission.reason})` : '';
    return `${errorType}: ${errorMessage}${denied}`;
  }
  if (status !== 'success') return null;
  return resultStart ?? (typeof result === 'string' ? result : JSON.stringify(result));
}

/** The prompt as it was sent, with the tools that were offered. */
export function formatPrompt({ prompt }: Execution): string {
  if (prompt === null) return colors.dim('The prompt of this execution is not stored.');
  const { text, bytes, isTruncated, tools } = prompt;
  const size = isTruncated ? colors.dim(` (the beginning of ${formatBytes(bytes)})`) : '';
  const offered = tools.length === 0 ? 'none' : tools.join(', ');
  return `${colors.bold('prompt')}${size}\n${indentText(text)}\n\n${colors.bold('tools')}\n  ${safeLine(offered)}`;
}
