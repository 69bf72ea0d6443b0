import { createStreamedText } from './streamed-text';

const delta = (text: string) => ({ type: 'text-delta', id: 't', delta: text });
const start = { type: 'start', messageId: '1' };
const step = { type: 'start-step' };
const reset = { type: 'reset-step' };
const end = { type: 'finish-step' };
const finish = { type: 'finish', finishReason: 'stop' };

function readAll(chunks: { type: string }[]) {
  const read = createStreamedText();
  const parts = chunks.map((chunk) => read(chunk)).filter((part) => part !== null);
  const text = parts.map((part) => (part.type === 'text' ? part.text : '')).join('');
  return { text, end: parts.find(({ type }) => type !== 'text') };
}
const stop = { type: 'end' };
const restarted = { type: 'failed', reason: 'answer_restarted' };

test.each([
  ['one step', [start, step, delta('Hel'), delta('lo'), finish], 'Hello', stop],
  [
    'steps are paragraphs',
    [start, step, delta('I look.'), step, step, delta('Found.'), finish],
    'I look.\n\nFound.',
    stop,
  ],
  [
    'the same words again',
    [start, step, delta('Hel'), reset, delta('He'), delta('llo'), finish],
    'Hello',
    stop,
  ],
  [
    'the same words twice again',
    [start, step, delta('Hel'), reset, delta('H'), reset, delta('Hello'), finish],
    'Hello',
    stop,
  ],
  ['nothing was sent before', [start, step, reset, delta('Hello'), finish], 'Hello', stop],
  ['other words', [start, step, delta('Hel'), reset, delta('Hi')], 'Hel', restarted],
  ['fewer words', [start, step, delta('Hello'), reset, delta('Hel'), finish], 'Hello', restarted],
  [
    'the stored answer from the beginning',
    [start, reset, step, delta('Hello'), finish],
    'Hello',
    stop,
  ],
  [
    'the stored answer in between',
    [start, step, delta('Hel'), start, reset, step, delta('Hello'), finish],
    'Hello',
    stop,
  ],
  [
    'the stored answer after a tool',
    [
      start,
      step,
      delta('I look.'),
      step,
      delta('Fou'),
      start,
      reset,
      step,
      step,
      delta('Found.'),
      finish,
    ],
    'I look.\n\nFound.',
    stop,
  ],
  [
    'the stored answer after a step that had ended',
    [
      start,
      step,
      delta('I look.'),
      end,
      start,
      reset,
      step,
      end,
      step,
      delta('Found.'),
      end,
      finish,
    ],
    'I look.\n\nFound.',
    stop,
  ],
  [
    'another process continues after a step that had ended',
    [start, step, delta('I look.'), end, start, reset, step, delta('Found.'), end, finish],
    'I look.\n\nFound.',
    stop,
  ],
  [
    'another process writes a step again, and a further one',
    [
      start,
      step,
      delta('I lo'),
      start,
      reset,
      step,
      delta('I look.'),
      end,
      step,
      delta('Found.'),
      end,
      finish,
    ],
    'I look.\n\nFound.',
    stop,
  ],
  [
    'another process begins before anything was sent',
    [start, start, reset, step, delta('I look.'), end, step, delta('Found.'), end, finish],
    'I look.\n\nFound.',
    stop,
  ],
  [
    'a takeover',
    [start, step, delta('a'), reset, { type: 'finish', finishReason: 'other' }],
    'a',
    { type: 'failed', reason: 'person_answers' },
  ],
  [
    'an error',
    [start, { type: 'error', errorText: 'interrupted' }],
    '',
    { type: 'failed', reason: 'interrupted' },
  ],
  [
    'a cancellation',
    [start, step, delta('a'), { type: 'abort' }],
    'a',
    { type: 'failed', reason: 'cancelled' },
  ],
])('%s', (_name, chunks, text, end) => {
  expect(readAll(chunks)).toEqual({ text, end });
});
