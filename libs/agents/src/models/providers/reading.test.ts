import type { FinishReason } from '@parley/contracts';
import fc from 'fast-check';
import type { Answer, AnswerLimits, AnswerReader } from '../reading/answer';
import { createAnthropicReader } from './read-anthropic';
import { createGoogleReader } from './read-google';
import { createOllamaReader } from './read-ollama';
import { createOpenAiReader } from './read-openai';
import { readArguments, readCalls } from '../reading/read-calls';
import { readProviderError } from '../provider-error';
import { faultOf } from '../reading/provider-fault';
import { readValues } from '../reading/read-values';
import { createResponsesReader } from './read-responses';

type CreateReader = (limits: AnswerLimits, write: (delta: string) => void) => AnswerReader;

interface Recording {
  name: string;
  createReader: CreateReader;
  body: string;
  /** What the answer is, read whole. */
  text: string;
  calls?: { name: string; args: object }[];
  finishReason: FinishReason;
}

const events = (...values: unknown[]) =>
  values.map((value) => `data: ${JSON.stringify(value)}\n\n`).join('');
const delta = (given: object, finish: string | null = null) => ({
  choices: [{ index: 0, delta: given, finish_reason: finish }],
});
const callDelta = (fields: object) => delta({ tool_calls: [fields] });
const done = 'data: [DONE]\n\n';
const words = 'Hola señor, 価格は 100 € 🎉.';

const recordings: Recording[] = [
  {
    name: 'OpenAI, a streamed text',
    createReader: createOpenAiReader,
    body: events(
      delta({ role: 'assistant', content: '' }),
      delta({ content: words.slice(0, 7) }),
      delta({ content: words.slice(7) }),
      delta({}, 'stop'),
      { choices: [], usage: { prompt_tokens: 9, completion_tokens: 4, total_tokens: 13 } },
    ).concat(done),
    text: words,
    finishReason: 'stop',
  },
  {
    name: 'OpenAI, streamed calls',
    createReader: createOpenAiReader,
    body: events(
      delta({ role: 'assistant', content: 'Let me see' }),
      callDelta({
        index: 0,
        id: 'call_a',
        type: 'function',
        function: { name: 'pay', arguments: '' },
      }),
      callDelta({ index: 0, function: { arguments: '{"amount":1' } }),
      callDelta({ index: 0, function: { arguments: '2000}' } }),
      callDelta({
        index: 1,
        id: 'call_b',
        type: 'function',
        function: { name: 'find', arguments: '{"id":"ñ"}' },
      }),
      delta({}, 'tool_calls'),
    ).concat(done),
    text: 'Let me see',
    calls: [
      { name: 'pay', args: { amount: 12000 } },
      { name: 'find', args: { id: 'ñ' } },
    ],
    finishReason: 'tool_calls',
  },
  {
    name: 'OpenAI, a whole answer',
    createReader: createOpenAiReader,
    body: JSON.stringify({
      choices: [
        {
          message: {
            role: 'assistant',
            content: words,
            tool_calls: [
              {
                id: 'call_a',
                type: 'function',
                function: { name: 'pay', arguments: '{"amount":12000}' },
              },
            ],
          },
          finish_reason: 'tool_calls',
        },
      ],
      usage: { prompt_tokens: 9, completion_tokens: 4 },
    }),
    text: words,
    calls: [{ name: 'pay', args: { amount: 12000 } }],
    finishReason: 'tool_calls',
  },
  {
    name: 'OpenAI, a whole answer over several lines',
    createReader: createOpenAiReader,
    body: JSON.stringify(
      { choices: [{ message: { content: words }, finish_reason: 'stop' }] },
      null,
      2,
    ),
    text: words,
    finishReason: 'stop',
  },
  {
    name: 'Anthropic, streamed thoughts, text and call',
    createReader: createAnthropicReader,
    body: events(
      {
        type: 'message_start',
        message: { role: 'assistant', content: [], usage: { input_tokens: 9 } },
      },
      { type: 'content_block_start', index: 0, content_block: { type: 'thinking', thinking: '' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'thinking_delta', thinking: 'Hm.' } },
      {
        type: 'content_block_delta',
        index: 0,
        delta: { type: 'signature_delta', signature: 'sig' },
      },
      { type: 'content_block_stop', index: 0 },
      { type: 'content_block_start', index: 1, content_block: { type: 'text', text: '' } },
      { type: 'content_block_delta', index: 1, delta: { type: 'text_delta', text: words } },
      { type: 'content_block_stop', index: 1 },
      {
        type: 'content_block_start',
        index: 2,
        content_block: { type: 'tool_use', id: 't', name: 'pay', input: {} },
      },
      {
        type: 'content_block_delta',
        index: 2,
        delta: { type: 'input_json_delta', partial_json: '{"amount":1' },
      },
      {
        type: 'content_block_delta',
        index: 2,
        delta: { type: 'input_json_delta', partial_json: '2000}' },
      },
      { type: 'content_block_stop', index: 2 },
      { type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage: { output_tokens: 4 } },
      { type: 'message_stop' },
    ),
    text: words,
    calls: [{ name: 'pay', args: { amount: 12000 } }],
    finishReason: 'tool_calls',
  },
  {
    name: 'Gemini, a stream',
    createReader: createGoogleReader,
    body: events(
      { candidates: [{ content: { role: 'model', parts: [{ text: 'Hm.', thought: true }] } }] },
      { candidates: [{ content: { role: 'model', parts: [{ text: words }] } }] },
      {
        candidates: [
          {
            content: {
              parts: [
                { functionCall: { name: 'pay', args: { amount: 12000 } }, thoughtSignature: 's' },
              ],
            },
            finishReason: 'STOP',
          },
        ],
        usageMetadata: { promptTokenCount: 9, candidatesTokenCount: 4 },
      },
    ),
    text: words,
    calls: [{ name: 'pay', args: { amount: 12000 } }],
    finishReason: 'tool_calls',
  },
  {
    name: 'Ollama, lines',
    createReader: createOllamaReader,
    body: [
      { message: { role: 'assistant', content: words }, done: false },
      {
        message: { tool_calls: [{ function: { name: 'pay', arguments: { amount: 12000 } } }] },
        done: false,
      },
      {
        message: { content: '' },
        done: true,
        done_reason: 'stop',
        prompt_eval_count: 9,
        eval_count: 4,
      },
    ]
      .map((line) => `${JSON.stringify(line)}\n`)
      .join(''),
    text: words,
    calls: [{ name: 'pay', args: { amount: 12000 } }],
    finishReason: 'tool_calls',
  },
  {
    name: 'the Responses API, a stream',
    createReader: createResponsesReader,
    body: events(
      { type: 'response.created', response: { status: 'in_progress', output: [] } },
      { type: 'response.output_text.delta', delta: words },
      {
        type: 'response.completed',
        response: {
          object: 'response',
          status: 'completed',
          output: [
            { type: 'reasoning', id: 'rs_1', summary: [] },
            { type: 'message', content: [{ type: 'output_text', text: words }] },
            { type: 'function_call', call_id: 'c', name: 'pay', arguments: '{"amount":12000}' },
          ],
          usage: { input_tokens: 9, output_tokens: 4 },
        },
      },
    ),
    text: words,
    calls: [{ name: 'pay', args: { amount: 12000 } }],
    finishReason: 'tool_calls',
  },
];

const limits: AnswerLimits = { calls: 32, textBytes: 1024 * 1024 };

async function* inPieces(bytes: Uint8Array, ends: readonly number[]): AsyncGenerator<Uint8Array> {
  let from = 0;
  for (const end of [...ends, bytes.length]) {
    if (end > from) yield bytes.subarray(from, end);
    from = Math.max(from, end);
  }
}

/** Reads an answer from its pieces; null if it is incomplete. */
async function read(
  createReader: CreateReader,
  pieces: AsyncIterable<Uint8Array>,
  given = limits,
): Promise<{ answer: Answer; shown: string } | null> {
  let shown = '';
  const reader = createReader(given, (text) => (shown += text));
  try {
    await readValues(pieces, reader);
  } catch {
    return null;
  }
  return reader.hasEnded() || reader.isFull() ? { answer: reader.read(), shown } : null;
}

const callsOf = (answer: Answer) =>
  readCalls(answer.calls, String).map(({ written, args, problem }) => ({
    name: written.name,
    args,
    problem,
  }));

describe.each(recordings)('$name', ({ createReader, body, text, calls = [], finishReason }) => {
  const bytes = new TextEncoder().encode(body);
  const whole = {
    text,
    calls: calls.map((call) => ({ ...call, problem: undefined })),
    finishReason,
  };
  const expectWhole = (result: Awaited<ReturnType<typeof read>>) => {
    const answer = result!.answer;
    expect({
      text: answer.text,
      calls: callsOf(answer),
      finishReason: answer.finishReason,
    }).toEqual(whole);
    expect(result!.shown).toBe(text);
  };

  it('is the same in chunks that end at any byte', async () => {
    for (let end = 0; end <= bytes.length; end += 1)
      expectWhole(await read(createReader, inPieces(bytes, [end])));
    expectWhole(await read(createReader, inPieces(bytes, Array.from(bytes.keys()))));
  });

  it('is the same in random chunks', async () => {
    const ends = fc.array(fc.nat(bytes.length), { maxLength: 40 });
    await fc.assert(
      fc.asyncProperty(ends, async (given) => {
        const sorted = given.sort((a, b) => a - b);
        expectWhole(await read(createReader, inPieces(bytes, sorted)));
      }),
    );
  });

  it('is whole, or no answer, when it ends at any byte', async () => {
    for (let end = 0; end < bytes.length; end += 1) {
      const result = await read(createReader, inPieces(bytes.subarray(0, end), []));
      if (result !== null) expectWhole(result);
    }
  });

  it('is the same with other ends of lines', async () => {
    const other = new TextEncoder().encode(body.replaceAll('\n', '\r\n'));
    expectWhole(await read(createReader, inPieces(other, [])));
    const dense = new TextEncoder().encode(body.replaceAll('\n\n', '\n'));
    expectWhole(await read(createReader, inPieces(dense, [])));
    const marked = new TextEncoder().encode(`\uFEFF${body}`);
    expectWhole(await read(createReader, inPieces(marked, [1, 2])));
  });
});

describe('limits', () => {
  const bodyOf = (text: string) => new TextEncoder().encode(text);

  it('ends a text at its size, as cut off', async () => {
    const piece = 'é'.repeat(10_000);
    async function* endless() {
      for (;;) yield bodyOf(events(delta({ content: piece })));
    }
    const result = await read(createOpenAiReader, endless(), { calls: 32, textBytes: 50_001 });
    expect(result?.answer).toMatchObject({ finishReason: 'length', text: 'é'.repeat(25_000) });
  });

  it('keeps 32 calls of any number, and counts the others', async () => {
    const call = (index: number) => ({
      id: `c${index}`,
      function: { name: 'pay', arguments: '{}' },
    });
    const all = Array.from({ length: 50_000 }, (_, index) => call(index));
    const body = JSON.stringify({
      choices: [{ message: { tool_calls: all }, finish_reason: 'tool_calls' }],
    });
    const whole = await read(createOpenAiReader, inPieces(bodyOf(body), []));
    expect([whole?.answer.calls.length, whole?.answer.droppedCalls]).toEqual([32, 49_968]);
    const streamed = all.slice(0, 100).map((one, index) => callDelta({ index, ...one }));
    const pieces = inPieces(bodyOf(events(...streamed, delta({}, 'tool_calls'))), []);
    const result = await read(createOpenAiReader, pieces);
    expect([result?.answer.calls.length, result?.answer.droppedCalls]).toEqual([32, 68]);
  });

  it('refuses a document and a line of more than 8 MiB, and an event that never ends', async () => {
    const reader = createOpenAiReader(limits, () => {});
    const megabyte = bodyOf('x'.repeat(1024 * 1024));
    async function* after(beginning: string, piece = megabyte) {
      yield bodyOf(beginning);
      for (let count = 0; count < 100; count += 1) yield piece;
    }
    for (const beginning of [
      '{"choices":[{"message":{"content":"',
      `${events(delta({ content: 'a' }))}data: {"x":"`,
    ]) {
      await expect(readValues(after(beginning), reader)).rejects.toThrow(
        /larger than 8388608 bytes/,
      );
    }
    const lines = bodyOf('data: [\n'.repeat(100_000));
    await expect(readValues(after('data: [\n', lines), reader)).rejects.toThrow(/larger than/);
  });

  it('reads arguments that are nested deeply as a fault of the call', () => {
    const deep = `${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`;
    expect(readArguments(deep).problem).toMatch(/nested deeper than 64 levels/);
    expect(readArguments('{"a":{"b":[1]}}')).toEqual({ args: { a: { b: [1] } } });
  });
});

describe('pieces of calls', () => {
  const piece = (
    index: number | undefined,
    id: string | undefined,
    name: string | undefined,
    args: string,
  ) =>
    callDelta({
      ...(index !== undefined && { index }),
      ...(id && { id }),
      function: { name, arguments: args },
    });
  const cases: [string, object[], { name: string; args: object }[]][] = [
    [
      'an id that changes',
      [piece(0, 'a', 'pay', ''), piece(0, 'b', undefined, '{"x":1}')],
      [{ name: 'pay', args: { x: 1 } }],
    ],
    [
      'an id that changes, with the name repeated',
      [piece(0, 'a', 'pay', ''), piece(0, 'b', 'pay', '{"x":'), piece(0, 'c', 'pay', '1}')],
      [{ name: 'pay', args: { x: 1 } }],
    ],
    [
      'a call without arguments before another, without ids',
      [piece(undefined, undefined, 'list', ''), piece(undefined, undefined, 'pay', '{"a":2}')],
      [
        { name: 'list', args: {} },
        { name: 'pay', args: { a: 2 } },
      ],
    ],
    [
      'the same, all numbered 0',
      [piece(0, undefined, 'list', ''), piece(0, undefined, 'pay', '{"a":2}')],
      [
        { name: 'list', args: {} },
        { name: 'pay', args: { a: 2 } },
      ],
    ],
    [
      'two whole calls of one tool with two ids, both numbered 0',
      [piece(0, 'a', 'pay', '{"a":1}'), piece(0, 'b', 'pay', '{"a":2}')],
      [
        { name: 'pay', args: { a: 1 } },
        { name: 'pay', args: { a: 2 } },
      ],
    ],
    [
      'one id for two numbers',
      [piece(0, 'a', 'pay', '{"a":1}'), piece(1, 'a', 'pay', '{"a":2}')],
      [
        { name: 'pay', args: { a: 1 } },
        { name: 'pay', args: { a: 2 } },
      ],
    ],
  ];
  it.each(cases)('%s', async (_name, pieces, expected) => {
    const body = new TextEncoder().encode(events(...pieces, delta({}, 'tool_calls')));
    const result = await read(createOpenAiReader, inPieces(body, []));
    expect(callsOf(result!.answer)).toEqual(
      expected.map((call) => ({ ...call, problem: undefined })),
    );
  });
});

describe('answers of odd servers', () => {
  const readAll = (createReader: CreateReader, body: string) =>
    read(createReader, inPieces(new TextEncoder().encode(body), []));

  it('have the message so far beside each delta', async () => {
    const chunk = (soFar: string, now: string, finish_reason: string | null) => ({
      choices: [{ message: { content: soFar }, delta: { content: now }, finish_reason }],
    });
    const first = events(chunk('There', 'There', null));
    expect(
      (await readAll(createOpenAiReader, first + events(chunk('There are', ' are', 'stop'))))
        ?.answer.text,
    ).toBe('There are');
    expect(await readAll(createOpenAiReader, first)).toBeNull();
    const whole = {
      choices: [
        { message: { content: 'There are' }, delta: { content: '' }, finish_reason: 'stop' },
      ],
    };
    expect((await readAll(createOpenAiReader, JSON.stringify(whole)))?.answer.text).toBe(
      'There are',
    );
  });

  it('end with names that objects have, or that are new', async () => {
    const openAi = await readAll(
      createOpenAiReader,
      events(delta({ content: 'a' }, 'constructor')),
    );
    expect(openAi?.answer.finishReason).toBe('stop');
    const gemini = (finishReason: string) =>
      readAll(
        createGoogleReader,
        events({
          candidates: [{ content: { parts: [{ functionCall: { name: 'pay' } }] }, finishReason }],
        }),
      );
    expect((await gemini('MALFORMED_RESPONSE'))?.answer.finishReason).toBe('error');
    expect((await gemini('__proto__'))?.answer.finishReason).toBe('error');
    expect((await gemini('STOP'))?.answer.finishReason).toBe('tool_calls');
  });

  it('stream details of thoughts in pieces', async () => {
    const details = (fields: object) =>
      delta({ reasoning_details: [{ type: 'reasoning.text', index: 0, ...fields }] });
    const reader = createOpenAiReader(limits, () => {});
    const body = events(
      details({ text: 'Let' }),
      details({ text: ' me' }),
      details({ signature: 'S' }),
      delta({ content: 'a' }, 'stop'),
    );
    await readValues(inPieces(new TextEncoder().encode(body), []), reader);
    expect(reader.thoughts!()).toEqual({
      reasoning_details: [{ type: 'reasoning.text', index: 0, text: 'Let me', signature: 'S' }],
    });
  });

  it("keep the order of Anthropic's blocks, without thoughts that were cut off", async () => {
    const reader = createAnthropicReader(limits, () => {});
    const content = [
      { type: 'thinking', thinking: 'one', signature: 's1' },
      { type: 'text', text: 'Looking' },
      { type: 'thinking', thinking: 'two', signature: 's2' },
      { type: 'thinking', thinking: 'three' },
      { type: 'tool_use', id: 't', name: 'pay', input: {} },
    ];
    const body = JSON.stringify({ type: 'message', content, stop_reason: 'tool_use' });
    await readValues(inPieces(new TextEncoder().encode(body), []), reader);
    const sent = reader.toBody(readCalls(reader.read().calls, String));
    expect(sent.content).toEqual([content[0], content[1], content[2], content[4]]);
  });

  it('begin with a comment before a document', async () => {
    const body = `: waiting\n\n${JSON.stringify({ choices: [{ message: { content: 'a' } }] })}`;
    expect((await readAll(createOpenAiReader, body))?.answer.text).toBe('a');
  });

  it('have thoughts in other alphabets', async () => {
    const body = events(delta({ content: '<think>İstanbul İzmir</think>Merhaba' }, 'stop'));
    expect((await readAll(createOpenAiReader, body))?.answer.text).toBe('Merhaba');
  });
});

/**
 * Each of these would take minutes or overflow the stack if the reader looked at what it has
 * again for each piece.
 */
describe('hostile answers are read in time that grows with their size', () => {
  const mebi = 1024 * 1024;
  const bodies: [string, () => string][] = [
    [
      'a line of carriage returns',
      () => events(delta({ content: `a${'\r'.repeat(mebi)}` }, 'stop')),
    ],
    [
      'blanks in pieces',
      () =>
        events(delta({ content: ' '.repeat(4 * mebi) })) +
        events(delta({ content: ' ' })).repeat(20_000),
    ],
    [
      'thoughts one after the other',
      () => events(delta({ content: '<think></think>'.repeat(300_000) }, 'stop')),
    ],
    ['closing tags', () => events(delta({ content: 'a</think>'.repeat(100_000) }, 'stop'))],
    [
      'arguments with a name in each piece',
      () =>
        events(
          callDelta({
            index: 0,
            function: { name: 'pay', arguments: `{"a":"${'}'.repeat(4 * mebi)}` },
          }),
        ) +
        events(callDelta({ index: 0, function: { name: 'pay', arguments: '}' } })).repeat(20_000),
    ],
    [
      'details of thoughts',
      () =>
        events(delta({ reasoning_details: Array.from({ length: 500_000 }, () => ({})) })) +
        events(delta({ reasoning_details: [{}] })).repeat(20_000),
    ],
  ];
  it.each(bodies)('%s', async (_name, bodyOf) => {
    const reader = createOpenAiReader(limits, () => {});
    await readValues(inPieces(new TextEncoder().encode(bodyOf()), []), reader);
    expect(reader.read()).toBeDefined();
  });

  it('an error', () => {
    const message = 'input token count '.repeat(100_000);
    expect(readProviderError(faultOf({ code: 400, message })).kind).toBe('rejected');
  });
});
