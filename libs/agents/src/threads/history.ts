import type { ModelMessage } from '../models/model';
import type { HistoryRow } from './turn';

/** What the model reads where a call was begun and its outcome is not known. It is never run again. */
const interruptedResult =
  '{"error":"The call was interrupted: it may or may not have happened. Check before you repeat it.","errorType":"interrupted"}';

/** What stands for the reply of a turn that has none: it failed, was interrupted, or a person had taken over. */
const noReply = '[No reply was sent to this message.]';

/** Rough and on the safe side for most languages; providers count differently anyway. */
const charsPerToken = 3.5;

/**
 * A thread's stored messages as turns that any provider accepts: each begins with the user and ends with the assistant,
 * and every call is followed by its result. Whatever a crash left open is closed here, by what is read, not by what is
 * stored.
 */
export function repairHistory(rows: readonly HistoryRow[]): ModelMessage[][] {
  const turns = Map.groupBy(rows, ([executionId]) => executionId);
  const all = [...turns.values()].map(repairTurn).filter((turn) => turn.length > 0);
  return all;
}

function repairTurn(rows: HistoryRow[]): ModelMessage[] {
  const results = new Map(rows.flatMap(([, role, content, , id]) => (role === 'tool' && id ? [[id, content]] : [])));
  const turn: ModelMessage[] = [];
  for (const [, role, content, calls] of rows) {
    if (role === 'user') turn.push({ role, content });
    if (role !== 'assistant') continue;
    const toolCalls = calls ?? [];
    if (content === '' && toolCalls.length === 0) continue;
    turn.push({ role, content, toolCalls });
    for (const { id, name } of toolCalls) {
      const result = results.get(id) ?? interruptedResult;
      turn.push({ role: 'tool', toolCallId: id, name, content: result, isError: result.startsWith('{"error":') });
    }
  }
  // The beginning of a turn may lie beyond the rows that were read.
  if (turn[0]?.role !== 'user') return [];
  const last = turn.at(-1)!;
  const isAnswered = last.role === 'assistant' && last.toolCalls.length === 0;
  return isAnswered ? turn : [...turn, { role: 'assistant', content: noReply, toolCalls: [] }];
}

/** The newest whole turns that fit into a number of tokens. */
export function trimHistory(turns: readonly ModelMessage[][], budgetTokens: number): ModelMessage[] {
  let left = budgetTokens;
  let from = turns.length;
  while (from > 0 && (left -= tokensOf(turns[from - 1]!)) >= 0) from -= 1;
  return turns.slice(from).flat();
}

const tokensOf = (turn: readonly ModelMessage[]): number =>
  turn.reduce((sum, message) => sum + 8 + roughTokens(message.content) + callTokens(message), 0);

const callTokens = (message: ModelMessage): number =>
  message.role === 'assistant' && message.toolCalls.length > 0 ? roughTokens(JSON.stringify(message.toolCalls)) : 0;

const roughTokens = (text: string): number => Math.ceil(text.length / charsPerToken);
