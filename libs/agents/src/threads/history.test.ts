import fc from 'fast-check';
import type { ModelMessage } from '../models/model';
import { type HistoryTurn, repairHistory, trimHistory } from './history';
import type { HistoryRow } from './turn';

/** The stored rows of one turn, with the given number of calls in each step. */
function storedTurn(executionId: string, steps: number[]): HistoryRow[] {
  const rows: HistoryRow[] = [[executionId, 'user', `q${executionId}`, null, null]];
  for (const [step, calls] of steps.entries()) {
    const made = Array.from({ length: calls }, (_, n) => ({
      id: `${executionId}-${step}-${n}`,
      name: 'a.b',
      args: {},
    }));
    rows.push([executionId, 'assistant', '', made, null]);
    for (const { id } of made) rows.push([executionId, 'tool', `result of ${id}`, null, id]);
  }
  return [...rows, [executionId, 'assistant', `a${executionId}`, null, null]];
}

/** The rules of every provider. */
function expectValid(messages: readonly ModelMessage[]): void {
  let open: string[] = [];
  let before: ModelMessage['role'] | undefined;
  for (const message of messages) {
    if (message.role === 'tool') {
      expect(open).toContain(message.toolCallId);
      open = open.filter((id) => id !== message.toolCallId);
    } else {
      expect(open).toEqual([]);
      if (message.role === 'user') expect(before).not.toBe('user');
      else expect(message.content !== '' || message.toolCalls.length > 0).toBe(true);
      open = message.role === 'assistant' ? message.toolCalls.map(({ id }) => id) : [];
    }
    before = message.role;
  }
  expect(open).toEqual([]);
  if (messages.length > 0)
    expect(messages.at(-1)).toMatchObject({ role: 'assistant', toolCalls: [] });
  if (messages.length > 0) expect(messages[0]!.role).toBe('user');
}

const messagesOf = (turns: HistoryTurn[]): ModelMessage[] =>
  turns.flatMap(({ messages }) => messages);

const steps = fc.array(fc.integer({ min: 1, max: 4 }), { maxLength: 4 });

it('is valid after a crash at any point of a turn, with any results missing', () => {
  fc.assert(
    fc.property(
      fc.array(fc.record({ steps, cutAt: fc.nat(30), lost: fc.nat(7) }), { maxLength: 6 }),
      (turns) => {
        const rows = turns.flatMap(({ steps: one, cutAt, lost }, index) =>
          storedTurn(String(index), one)
            .slice(0, cutAt + 1)
            .filter(([, role], at) => role !== 'tool' || at % 8 !== lost),
        );
        const repaired = repairHistory(rows);
        expect(repaired).toHaveLength(turns.length);
        expectValid(messagesOf(repaired));
      },
    ),
  );
});

it('is valid when the first rows of a turn were not read', () => {
  fc.assert(
    fc.property(fc.array(steps, { maxLength: 5 }), fc.nat(40), (turns, from) => {
      const rows = turns.flatMap((one, index) => storedTurn(String(index), one));
      expectValid(messagesOf(repairHistory(rows.slice(from))));
    }),
  );
});

it('is trimmed at whole turns and keeps the newest', () => {
  fc.assert(
    fc.property(fc.array(steps, { maxLength: 8 }), fc.nat(2_000), (turns, budget) => {
      const repaired = repairHistory(turns.flatMap((one, index) => storedTurn(String(index), one)));
      const kept = trimHistory(repaired, budget);
      expectValid(kept);
      const all = messagesOf(repaired);
      expect(all.slice(all.length - kept.length)).toEqual(kept);
    }),
  );
});

it('reports a missing reply, and that a call may have been executed', () => {
  const turns = repairHistory(storedTurn('1', [2]).slice(0, 3));
  expect(messagesOf(turns).map(({ role, content }) => `${role}: ${content}`)).toEqual([
    'user: q1',
    'assistant: ',
    'tool: result of 1-0-0',
    expect.stringMatching(/^tool: .*may or may not have happened/),
    'assistant: [No reply was sent to this message.]',
  ]);
});
