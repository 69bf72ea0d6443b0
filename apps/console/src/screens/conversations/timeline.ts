import type { ResultOf } from '@parley/client/manage';

export type Message = ResultOf<'listThreadMessages'>['data'][number];
export type ChannelMessage = ResultOf<'listChannelMessages'>['data'][number];

/** The items of a conversation, in their order. */
export type Entry =
  /**
   * A message of the thread; `sent` is the message of the channel that it came with or
   * was delivered as.
   */
  | { kind: 'message'; id: string; at: number; message: Message; sent: ChannelMessage | null }
  /**
   * A message of the channel that the thread does not have: a picture without text, a location,
   * what a trigger sent.
   */
  | { kind: 'sent'; id: string; at: number; sent: ChannelMessage }
  /** What the agent did for a message. */
  | { kind: 'steps'; id: string; at: number; executionId: string; toolCalls: number }
  /** The agent was asked to answer a message again. */
  | { kind: 'again'; id: string; at: number };

/**
 * Within this time of its message, a reply is stored in the outbox: its parts, and what
 * a retry replaces.
 */
const outboxMs = 10 * 60_000;

/**
 * Puts the messages of a thread and those of its channel in one order. `messages` and `sent`:
 * oldest first. Messages of the channel are left out before `fromMs`, where the thread has older
 * messages that are not loaded, and after `toMs`.
 */
export function timelineOf(
  messages: readonly Message[],
  sent: readonly ChannelMessage[],
  { fromMs, toMs }: { fromMs: number; toMs: number },
): Entry[] {
  const byId = new Map(sent.map((one) => [one.id, one]));
  const linked = new Set<string>();
  const entries: Entry[] = [];
  const toolCalls = toolCallsOf(messages);
  for (const message of messages) {
    const { id, createdAt: at, executionId } = message;
    const calls = toolCalls.get(message);
    if (calls !== undefined)
      entries.push({ kind: 'steps', id: `steps ${id}`, at, executionId, toolCalls: calls });
    const sentId = message.channelMessageId ?? message.delivery?.id;
    const isRepeated = message.role === 'user' && sentId !== undefined && linked.has(sentId);
    if (sentId !== undefined) linked.add(sentId);
    if (isRepeated) entries.push({ kind: 'again', id, at });
    else if (message.content !== '' || byId.get(sentId ?? '')?.media)
      entries.push({ kind: 'message', id, at, message, sent: byId.get(sentId ?? '') ?? null });
  }
  const replies = messages.filter(({ role }) => role === 'assistant');
  const others = sent.filter(
    (one) =>
      !linked.has(one.id) &&
      one.createdAt >= fromMs &&
      one.createdAt <= toMs &&
      !isShownAlready(one, replies),
  );
  return merge(
    entries,
    others.map((one) => ({ kind: 'sent', id: one.id, at: one.createdAt, sent: one })),
  );
}

/** The number of tool calls of each execution, at its first message of the agent. */
function toolCallsOf(messages: readonly Message[]): Map<Message, number> {
  const first = new Map<string, Message>();
  const counts = new Map<Message, number>();
  for (const message of messages) {
    if (message.role !== 'assistant' || message.author !== null) continue;
    const at = first.get(message.executionId) ?? message;
    first.set(message.executionId, at);
    counts.set(at, (counts.get(at) ?? 0) + message.toolCallIds.length);
  }
  return counts;
}

function isShownAlready(one: ChannelMessage, replies: readonly Message[]): boolean {
  // The texts of messages that were answered together are in one message of the thread.
  if (one.direction === 'inbound')
    return (
      one.text !== null && one.media === null && one.threadId !== null && one.status === 'answered'
    );
  return replies.some(
    (reply) => Math.abs(reply.createdAt - one.createdAt) < outboxMs && isReplyOf(reply, one),
  );
}

function isReplyOf(
  { content, delivery }: Message,
  { text, type, status }: ChannelMessage,
): boolean {
  // A file without a caption has no words, which every reply would contain.
  const words = text?.trim() ?? '';
  // A turn is stored before its reply is in the outbox: a reply that is loaded between the two
  // has no delivery.
  if (delivery === null) return words !== '' && content.trim() === words;
  // A long reply is sent in parts; a message that was sent again replaces one that failed.
  if (words !== '') return content.includes(words);
  return (status === 'failed' || status === 'unknown') && content === `[${type}]`;
}

/** Two lists in the order of their times. The order within each is kept. */
function merge(entries: Entry[], others: Entry[]): Entry[] {
  const merged: Entry[] = [];
  let at = 0;
  for (const entry of entries) {
    while (at < others.length && others[at]!.at < entry.at) merged.push(others[at++]!);
    merged.push(entry);
  }
  return [...merged, ...others.slice(at)];
}

/**
 * The id of the last message that the contact wrote or got; notes and instructions are for others.
 */
export const lastIdOf = (messages: readonly Message[]): string | undefined =>
  messages.findLast(
    ({ role, content }) => (role === 'user' || role === 'assistant') && content !== '',
  )?.id;
