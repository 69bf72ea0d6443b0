import type { StreamChunk } from '@parley/client';
import { type Reply, written } from './reply';

const delta = (text: string): StreamChunk => ({ type: 'text-delta', id: '1', delta: text });
const step: StreamChunk = { type: 'start-step' };
const call = (toolCallId: string, toolName: string): StreamChunk => ({
  type: 'tool-input-available',
  toolCallId,
  toolName,
  input: {},
});
const after = (...chunks: StreamChunk[]): Reply =>
  chunks.reduce(written, { executionId: 'e', texts: [], runningTools: [] });

test('each step has a text of its own, which grows by its pieces', () => {
  const pair = '👋';
  expect(
    after(step, delta('Hola '), delta(pair[0]!), delta(pair[1]!), step, delta('b')).texts,
  ).toEqual(['Hola 👋', 'b']);
});

test('a text before its step is not lost', () => {
  expect(after(delta('a')).texts).toEqual(['a']);
});

test('a step that another model begins again loses its text and its tools, those before stay', () => {
  const reply = after(
    step,
    delta('a'),
    step,
    delta('b'),
    call('1', 'x'),
    { type: 'reset-step' },
    delta('c'),
  );
  expect(reply).toMatchObject({ texts: ['a', 'c'], runningTools: [] });
});

test('tools run until each has answered or failed', () => {
  const two = [call('1', 'entity.query'), call('2', 'entity.query')];
  expect(after(...two).runningTools).toEqual([
    { id: '1', name: 'entity.query' },
    { id: '2', name: 'entity.query' },
  ]);
  const answered: StreamChunk = { type: 'tool-output-available', toolCallId: '1', output: null };
  const failed: StreamChunk = { type: 'tool-output-error', toolCallId: '2', errorText: 'x' };
  expect(after(...two, answered).runningTools).toEqual([{ id: '2', name: 'entity.query' }]);
  expect(after(...two, failed, answered).runningTools).toEqual([]);
});

test.each<StreamChunk>([
  { type: 'start', messageId: 'm' },
  { type: 'text-start', id: '1' },
  { type: 'finish-step' },
  { type: 'finish', finishReason: 'stop' },
  { type: 'error', errorText: 'x' },
])('a chunk $type changes nothing that is shown', (chunk) => {
  const reply = after(step, delta('a'));
  expect(written(reply, chunk)).toBe(reply);
});
