import type { ModelMessage } from '../models/model';
import type { HistoryRow } from './turn';

/** The result that the model gets for a call that was interrupted. The call is not repeated. */
const interruptedResult =
  '{"error":"The call was interrupted: it may or may not have happened. Check before you repeat it.","errorType":"interrupted"}';

/**
 * The reply that the model gets for a turn without one: it failed, was interrupted, or the agent
 * was not to answer.
 */
const noReply = '[No reply was sent to this message.]';

/**
 * How the model reads what people wrote: as a reply that is not its own, or as a note at the
 * end of a takeover.
 */
const personsReply = (name: string, text: string) =>
  `[${name}, a person of the team, replied:] ${text}`;
const personsNote = (name: string, text: string) =>
  `[${name}, a person of the team, left this note for you:] ${text}`;

/**
 * An estimate that is too high, rather than too low, for most languages. Each provider
 * counts differently.
 */
const charsPerToken = 3.5;

/** An earlier turn of the thread, as the model reads it. */
export interface HistoryTurn {
  executionId: string;
  messages: ModelMessage[];
}

/**
 * Converts a thread's stored messages to turns that every provider accepts: each begins with a user
 * message and ends with an assistant message, and each call is followed by its result. Missing
 * results and replies are filled in here; they are not stored.
 */
export function repairHistory(rows: readonly HistoryRow[]): HistoryTurn[] {
  const turns = Map.groupBy(rows, ([executionId]) => executionId);
  return [...turns]
    .map(([executionId, own]) => ({ executionId, messages: repairTurn(own) }))
    .filter(({ messages }) => messages.length > 0);
}

const sentBegin = '[The conversation begins.]';

/**
 * The rows of a conversation that a client has sent. One that an assistant began gets a first
 * message, as providers require.
 */
export function sentHistory(
  messages: readonly { role: 'user' | 'assistant'; content: string }[],
): HistoryRow[] {
  const all =
    messages[0]?.role === 'assistant'
      ? [{ role: 'user' as const, content: sentBegin }, ...messages]
      : messages;
  let turn = 0;
  return all.map(({ role, content }) => {
    if (role === 'user') turn += 1;
    return [`sent ${turn}`, role, content, null, null, null];
  });
}

/**
 * The messages of one turn. A call without a result gets one that says so; an unanswered turn ends
 * without a reply.
 */
export function readTurn(rows: readonly HistoryRow[]): ModelMessage[] {
  const results = new Map(
    rows.flatMap(([, role, content, , id]) => (role === 'tool' && id ? [[id, content]] : [])),
  );
  const turn: ModelMessage[] = [];
  for (const [, role, text, calls, , author] of rows) {
    if (role === 'user') turn.push({ role, content: text });
    if (role !== 'assistant' && role !== 'system') continue;
    const toolCalls = calls ?? [];
    if (text.trim() === '' && toolCalls.length === 0) continue;
    const content =
      author == null
        ? text
        : role === 'system'
          ? personsNote(author, text)
          : personsReply(author, text);
    const last = turn.at(-1);
    if (last?.role === 'assistant' && last.toolCalls.length === 0 && toolCalls.length === 0) {
      last.content += `\n\n${content}`;
      continue;
    }
    turn.push({ role: 'assistant', content, toolCalls });
    for (const { id, name } of toolCalls) {
      const result = results.get(id) ?? interruptedResult;
      turn.push({
        role: 'tool',
        toolCallId: id,
        name,
        content: result,
        isError: result.startsWith('{"error":'),
      });
    }
  }
  return turn;
}

function repairTurn(rows: HistoryRow[]): ModelMessage[] {
  const turn = readTurn(rows);
  // The oldest turn may be incomplete, because the number of rows is limited.
  if (turn[0]?.role !== 'user') return [];
  const last = turn.at(-1)!;
  const isAnswered = last.role === 'assistant' && last.toolCalls.length === 0;
  return isAnswered ? turn : [...turn, { role: 'assistant', content: noReply, toolCalls: [] }];
}

/** The messages of the newest complete turns that fit into `budgetTokens`. */
export function trimHistory(turns: readonly HistoryTurn[], budgetTokens: number): ModelMessage[] {
  return newestTurns(turns, budgetTokens).flatMap(({ messages }) => messages);
}

/** The newest turns that fit into `budgetTokens`, without a gap. */
export function newestTurns(
  turns: readonly HistoryTurn[],
  budgetTokens: number,
): readonly HistoryTurn[] {
  let left = budgetTokens;
  let from = turns.length;
  while (from > 0 && (left -= tokensOf(turns[from - 1]!.messages)) >= 0) from -= 1;
  return turns.slice(from);
}

/** The estimated size of turns in tokens. */
export const tokensOfTurns = (turns: readonly HistoryTurn[]): number =>
  turns.reduce((sum, { messages }) => sum + tokensOf(messages), 0);

const tokensOf = (turn: readonly ModelMessage[]): number =>
  turn.reduce((sum, message) => sum + 8 + roughTokens(message.content) + callTokens(message), 0);

const callTokens = (message: ModelMessage): number =>
  message.role === 'assistant' && message.toolCalls.length > 0
    ? roughTokens(JSON.stringify(message.toolCalls))
    : 0;

const roughTokens = (text: string): number => Math.ceil(text.length / charsPerToken);
