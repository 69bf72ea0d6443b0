import type { ResultOf } from '@parley/client/manage';
import { cutText, safeLine } from '../safe-text';
import { colors, formatFields, formatTime, indentText, timeZone } from '../terminal';
import {
  type Cuts,
  type Execution,
  type ToolStep,
  colorStatus,
  formatCall,
  tookOf,
} from './format-execution';

export type ThreadMessage = ResultOf<'listThreadMessages'>['data'][number];

/** An execution with the messages of its turn, also those of people. */
type Turn = Omit<Execution, 'messages'> & { messages: ThreadMessage[] };

export function formatThreadHead(thread: ResultOf<'getThread'>, cuts: Cuts): string {
  const { id, externalId, agentSlug, channel, params, transferCount, turnCount, createdAt } =
    thread;
  return formatFields({
    thread: id,
    'external id': externalId ?? undefined,
    agent: agentSlug ?? '-',
    channel,
    state: describeState(thread),
    status: thread.status === 'open' ? undefined : thread.status,
    labels: thread.labels.length === 0 ? undefined : thread.labels.join(', '),
    params: cutText(JSON.stringify(params), cuts.message),
    transfers: transferCount === 0 ? undefined : String(transferCount),
    turns: String(turnCount),
    begun: `${formatTime(createdAt)} (${timeZone()})`,
    'last message': formatTime(thread.lastMessageAt),
  });
}

function describeState({
  state,
  takenOverBy,
  resumesAt,
  waitingReason,
}: ResultOf<'getThread'>): string {
  if (state === 'agent') return state;
  if (state === 'waiting')
    return `waiting: the agent asked for a person${waitingReason ? `: ${waitingReason}` : ''}`;
  const who = takenOverBy === null ? 'a person' : takenOverBy.name;
  const end = resumesAt === null ? '' : ` until ${formatTime(resumesAt)}`;
  return `human: ${who} has taken over${end}, messages are stored and not answered`;
}

/**
 * Formats one turn: a heading with time, agent and status, then messages and tool calls. Untrusted
 * text is always indented, so that it cannot imitate a heading.
 */
export function formatTurn(turn: Turn, cuts: Cuts): string {
  const { createdAt, id, agentSlug, routerSlug, status } = turn;
  const who = [agentSlug ?? '-', ...(routerSlug === null ? [] : [`by router ${routerSlug}`])].join(
    ' ',
  );
  const marks = [
    formatTime(createdAt),
    `execution ${id}`,
    safeLine(who),
    colorStatus(status),
    tookOf(turn),
  ];
  const heading = colors.dim(`── ${marks.filter((mark) => mark !== null).join('  ')}`);
  const messages = turn.messages.flatMap((message) => formatMessage(turn, message, cuts));
  const end = describeEnd(turn);
  return [
    heading,
    ...messages,
    ...(end === null ? [] : [end]),
    ...turn.deliveries.flatMap(describeDelivery),
  ].join('\n');
}

function formatMessage(
  { steps }: Turn,
  { role, author, content, toolCallIds, delivery }: ThreadMessage,
  cuts: Cuts,
): string[] {
  const isAskedFor = (step: Execution['steps'][number]): step is ToolStep =>
    step.type === 'tool' && toolCallIds.includes(step.callId);
  const calls = steps.filter(isAskedFor).map((step) => {
    const { args, result } = formatCall(step, cuts);
    return `${colors.cyan('call')} ${safeLine(step.name)} ${args}\n  ${result}`;
  });
  if (content === '' && calls.length > 0) return calls;
  const who = author === null ? role : `${people[role]} ${safeLine(author.name)}`;
  // The deliveries of the agent's answer are those of its turn.
  const problem =
    author === null || delivery === null
      ? []
      : describeDelivery({ ...delivery, messageId: delivery.id });
  return [
    `${colors.bold(who)}\n${indentText(cutText(content || '(empty)', cuts.message))}`,
    ...calls,
    ...problem,
  ];
}

const people = { user: 'person', assistant: 'person', note: 'note by', system: 'to the agent, by' };

/** Nothing for a message that was or will be delivered. */
function describeDelivery({
  messageId,
  status,
  error,
}: Omit<Execution['deliveries'][number], 'createdAt'>): string[] {
  if (status !== 'failed' && status !== 'unknown') return [];
  const outcome = status === 'failed' ? 'not delivered' : 'may not have been delivered';
  return [colors.red(`${outcome}: message ${messageId}: ${safeLine(error ?? 'no reason given')}`)];
}

function describeEnd({ status, error }: Pick<Execution, 'status' | 'error'>): string | null {
  switch (status) {
    case 'succeeded':
      return null;
    case 'failed':
      return colors.red(`no answer: ${safeLine(error ?? 'failed')}`);
    case 'stored':
      return colors.dim('no answer: a person had taken over');
    case 'cancelled':
      return colors.dim('no answer: cancelled');
    case 'queued':
      return colors.dim('waiting for earlier turns of the thread');
    case 'running':
      return colors.dim('running');
    case 'stalled':
      return colors.red('stalled: the process that runs this turn no longer renews its lease');
  }
}
