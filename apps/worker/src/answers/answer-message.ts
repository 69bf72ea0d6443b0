import {
  type Agents,
  type ChatFailure,
  type FailingAgent,
  findEarlierTurn,
  lockForReply,
  readThread,
  withdrawReply,
} from '@parley/agents';
import type { FinishReason } from '@parley/contracts';
import {
  type AnswerEnd,
  type Channels,
  type WaitingMessage,
  finishMessage,
  latestNumberOf,
  queueMessage,
  readInbound,
  replyKey,
  requestOf,
  threadKeyOf,
} from '@parley/channels';
import type { Db } from '@parley/db';
import { splitText } from './split-text';

export interface AnswerDeps {
  db: Db;
  agents: Agents;
  channels: Channels;
}

/** How a message ends, or why it has no answer. */
type Decision =
  | { kind: 'end'; end: AnswerEnd; reply: string | null }
  /** It is tried again later, unless the failure is lasting. */
  | { kind: 'failed'; failure: AnswerFailure };

/** Why a message has no answer. */
export interface AnswerFailure {
  error: string;
  /** No later attempt can succeed. */
  isLasting: boolean;
  /** Null before a turn was stored. */
  threadId: string | null;
  agent: FailingAgent | null;
  /** The contact gets no notice: another attempt is still running. */
  isSilent?: boolean;
}

/**
 * Answers one message of a contact, and those joined with it, in one turn: with the agent or router
 * of the connection on the contact's thread, or with the account's media reply when none has a
 * text. One transaction ends the messages and stores the reply in the outbox, so a killed process
 * neither loses nor repeats it. A takeover before that keeps the reply back. Returns ids to send or
 * the failure; null if this claim has lost the message.
 */
export async function answerMessage(
  deps: AnswerDeps,
  message: WaitingMessage,
  signal: AbortSignal,
): Promise<
  | { ok: true; toSend: string[]; threadId: string | null }
  | { ok: false; failure: AnswerFailure }
  | null
> {
  const decision = await decide(deps, message, signal);
  if (decision.kind === 'failed') return { ok: false, failure: decision.failure };
  const { threadId } = decision.end;
  return deps.db.transaction(async (tx) => {
    const isTakenOver =
      decision.reply !== null &&
      threadId !== null &&
      (await lockForReply(tx, message, threadId)) === 'human';
    const end: AnswerEnd = isTakenOver ? { status: 'stored', error: null, threadId } : decision.end;
    if (!(await finishMessage(tx, message, end))) return null;
    if (isTakenOver) {
      await withdrawReply(tx, message, { threadId, requestId: message.id });
      return { ok: true, toSend: [], threadId };
    }
    const toSend: string[] = [];
    for (const [index, text] of splitText(decision.reply ?? '').entries()) {
      const { id } = await queueMessage(tx, message, {
        connectionId: message.connectionId,
        contact: message.contact,
        type: 'text',
        text,
        request: requestOf(recipientOf(message), 'text', { body: text, preview_url: false }),
        threadId,
        key: replyKey.of(message.id, index),
      });
      toSend.push(id);
    }
    return { ok: true, toSend, threadId };
  });
}

/** The number that sent the message. The contact may have used another number before. */
export function recipientOf({ payload, contact }: WaitingMessage): string {
  const identity = readInbound(payload)?.identity;
  return identity?.phone ?? identity?.scopedId ?? contact;
}

async function decide(
  deps: AnswerDeps,
  message: WaitingMessage,
  signal: AbortSignal,
): Promise<Decision> {
  // What the model sends for it may have ended the processes.
  if (message.hasEndedProcesses) return failed({ error: 'interrupted', isLasting: true });
  const received = [message, ...message.joined].flatMap(
    ({ payload }) => readInbound(payload) ?? [],
  );
  const toAnswer = received.filter(({ handling }) => handling !== 'store');
  const inbound = toAnswer.findLast(({ handling }) => handling === 'agent');
  if (toAnswer.length === 0) return end('stored', null, null);
  if (inbound === undefined) return answerMedia(deps, message);
  const { agentSlug, routerSlug } = message;
  if (agentSlug === null && routerSlug === null)
    return end('stored', null, null, 'the connection has neither agent nor router');
  const threadKey = threadKeyOf(message.contact);
  const earlier = await findEarlierTurn(deps.db, message, threadKey, message.id);
  if (earlier.state === 'running')
    return failed({
      error: 'an earlier attempt has not ended yet',
      isLasting: false,
      isSilent: true,
    });
  if (earlier.state === 'answered')
    return end('answered', withEllipsis(earlier.reply, earlier.finishReason), earlier.threadId);
  if (earlier.state === 'stored') {
    const thread = await readThread(deps.db, message, threadKey);
    if (thread?.state !== 'agent') return end('stored', null, earlier.threadId);
  }
  const isContinuation = earlier.state === 'broken' && earlier.hasActed;
  const texts = toAnswer.map(textOf).join('\n');
  const result = await deps.agents.chat(message, {
    agent: routerSlug === null ? { slug: agentSlug! } : { routerSlug },
    message:
      earlier.state === 'stored'
        ? unanswered(earlier.hasActed)
        : isContinuation
          ? interrupted
          : texts,
    externalThreadId: threadKey,
    phoneNumber: inbound.identity.phone ?? undefined,
    ...(inbound.contactName !== null && { params: { contactName: inbound.contactName } }),
    channel: 'whatsapp',
    contact: {
      id: message.contact,
      phoneNumber:
        inbound.identity.phone ??
        (message.contactType && (await latestNumberOf(deps.db, message, message.contact))),
      entityType: message.contactType,
    },
    requestId: message.id,
    signal,
  });
  if (!result.ok) return afterFailure(result);
  const { threadId, message: reply, _executionMeta: meta } = result.response;
  if (result.state === 'stored') return end('stored', null, threadId);
  return end('answered', withEllipsis(reply, meta?.finishReason ?? null), threadId);
}

const end = (
  status: AnswerEnd['status'],
  reply: string | null,
  threadId: string | null,
  error: string | null = null,
): Decision => ({ kind: 'end', end: { status, error, threadId }, reply });

/**
 * Replaces the message when its turn was interrupted after it had called tools. The thread already
 * contains the message and the tool calls; sending the message again could repeat their effects.
 */
const interrupted =
  '[The answer to the message above was interrupted. What was called for it has been done: do not call it again, and answer the message now.]';

/**
 * Replaces the message when the thread contains it already, and the agent answers it
 * after a takeover.
 */
const unanswered = (hasActed: boolean): string =>
  `[The last messages above have no answer, and you have the conversation again: answer them now.${hasActed ? ' What was called for them has been done: do not call it again.' : ''}]`;

/**
 * The text with the URL of the attached media. The URL of audio with a text is left out: the text
 * is the transcript.
 */
function textOf({ text, type, mediaUrl }: NonNullable<ReturnType<typeof readInbound>>): string {
  if (text !== null && (mediaUrl === null || type === 'audio' || type === 'voice')) return text;
  const media = `[${[type, mediaUrl ?? []].flat().join(': ')}]`;
  return text === null ? media : `${text}\n${media}`;
}

async function answerMedia(
  { db, channels }: AnswerDeps,
  message: WaitingMessage,
): Promise<Decision> {
  const thread = await readThread(db, message, threadKeyOf(message.contact));
  const account = await channels.accounts.kapso(message);
  if (
    (thread !== null && thread.state !== 'agent') ||
    account === null ||
    account.mediaReply === ''
  )
    return end('stored', null, thread?.id ?? null);
  return end('answered', account.mediaReply, thread?.id ?? null);
}

/** Shows the contact that a reply was cut off. */
function withEllipsis(reply: string, finishReason: FinishReason | null): string {
  const isCut =
    finishReason === 'length' || finishReason === 'content_filter' || finishReason === 'error';
  const text = reply.trimEnd();
  return isCut && !text.endsWith('…') ? `${text}…` : reply;
}

const failed = (
  failure: Pick<AnswerFailure, 'error' | 'isLasting'> & Partial<AnswerFailure>,
): Decision => ({
  kind: 'failed',
  failure: { threadId: null, agent: null, ...failure },
});

function afterFailure(failure: ChatFailure): Decision {
  switch (failure.reason) {
    case 'agent_not_found':
    case 'no_active_config':
    case 'router_not_found':
    case 'thread_not_found':
    case 'invalid_params':
      return failed({ error: failure.reason, isLasting: true });
    case 'turn_timeout':
    case 'thread_busy':
    case 'aborted':
    case 'interrupted':
      return failed({ ...failure, error: failure.reason, isLasting: false });
    default:
      return failed({ ...failure, error: failure.reason });
  }
}
