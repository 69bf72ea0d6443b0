import { executorLimits } from '@parley/contracts';
import { sandboxLimits } from './sandbox/limits';
import { type TestExecutor, startTestExecutor } from '../testing/start-test-executor';

let service: TestExecutor;
beforeAll(async () => {
  service = await startTestExecutor();
});
afterAll(() => service.close());

describe('authorization', () => {
  it.each([
    ['no token', {}],
    ['another token', { authorization: 'Bearer another-token' }],
    ['an empty token', { authorization: 'Bearer ' }],
    ['a prefix of the token', { authorization: 'Bearer test-executor-toke' }],
    ['another scheme', { authorization: 'Basic test-executor-token' }],
  ])(
    '%s is refused with 401 on both endpoints, before the body is read',
    async (_name, headers) => {
      for (const path of ['/execute', '/validate']) {
        const answer = await service.post(path, 'not even json', { authorization: '', ...headers });
        expect(answer).toMatchObject({
          status: 401,
          body: { error: 'Unauthorized', code: 'unauthorized' },
        });
      }
    },
  );

  it('GET /health requires no token', async () => {
    const response = await fetch(`${service.url}/health`);
    expect(await response.json()).toEqual({ status: 'ok', timestamp: expect.any(Number) });
  });
});

describe('POST /execute', () => {
  it('returns the result of a handler', async () => {
    const answer = await service.run('return { sum: args.a + args.b, who: context.name }', {
      args: { a: 1, b: 2 },
      context: { name: 'ana' },
    });
    expect(answer).toMatchObject({ status: 200, body: { result: { sum: 3, who: 'ana' } } });
    expect(answer.body._meta).toEqual({ durationMs: expect.any(Number) });
    expect(Object.keys(answer.body).sort()).toEqual(['_meta', 'result']);
  });

  it.each([
    ['return undefined', null],
    ['return null', null],
    ['', null],
    ['return [1, "ä", true, null, { a: [] }]', [1, 'ä', true, null, { a: [] }]],
    ['return new Date(0)', '1970-01-01T00:00:00.000Z'],
    ['return { toJSON: () => 5 }', 5],
    ['return "\\u0000\\ud800\\n"', '\u0000\ud800\n'],
    ['return { a: undefined, f() {}, [Symbol()]: 1 }', {}],
    ['return [NaN, Infinity, undefined]', [null, null, null]],
  ])('%s returns %j', async (code, result) => {
    expect((await service.run(code || ' ')).body).toMatchObject({ result });
  });

  it('keeps keys with a special meaning in JavaScript', async () => {
    const code =
      'return JSON.parse(\'{"__proto__":{"admin":true},"constructor":1,"hasOwnProperty":2}\')';
    const { body } = await service.run(code);
    expect(JSON.stringify(body.result)).toBe(
      '{"__proto__":{"admin":true},"constructor":1,"hasOwnProperty":2}',
    );
    expect(({} as { admin?: boolean }).admin).toBeUndefined();
    const back = await service.run('return [args.admin, Object.keys(args)]', {
      args: JSON.parse('{"__proto__":{"admin":true}}'),
    });
    expect(back.body.result).toEqual([null, ['__proto__']]);
  });

  it.each([
    ['throw new Error("boom")', { error: 'boom', errorName: 'Error', line: 1, column: 16 }],
    ['\n\nconst a = null;\n  return a.b', { errorName: 'TypeError', line: 4, column: 11 }],
    [
      'function f() {\n  nope()\n}\nf()',
      {
        error: "'nope' is not defined",
        line: 2,
        stack: 'at f (handler:2:3)\n    at <anonymous> (handler:4:2)',
      },
    ],
    ['throw "text"', { error: 'text' }],
    ['throw { code: 5 }', { error: '{"code":5}' }],
    ['throw null', { error: 'null' }],
    ['throw undefined', { error: 'undefined' }],
    [
      'class Mine extends Error { name = "Mine" }\nthrow new Mine("x")',
      { error: 'x', errorName: 'Mine' },
    ],
    [
      'setTimeout(() => { throw new Error("late") }, 1); await new Promise(() => {})',
      { error: 'late' },
    ],
    ['return 1n', { error: 'The result must be JSON: Do not know how to serialize a BigInt' }],
    ['return () => 1', { error: 'The result must be JSON: a function is not JSON' }],
    ['const a = {}; a.a = a; return a', { error: 'The result must be JSON: circular reference' }],
    [
      'throw new Proxy({}, { get() { throw 1 } })',
      { error: 'The handler threw something that cannot be described' },
    ],
    ['const x: = 1', { errorName: 'SyntaxError', line: 1, column: 10 }],
    ['eval("1 +")', { errorName: 'SyntaxError' }],
  ])('%j is answered with 200, the error and its position', async (code, expected) => {
    const answer = await service.run(code);
    expect(answer).toMatchObject({ status: 200, body: { ...expected, _meta: {} } });
    expect(answer.body).not.toHaveProperty('result');
    expect(JSON.stringify(answer.body)).not.toMatch(/parley\.js|\/tmp|node:/);
  });

  it('runs TypeScript, and errors have positions in the source', async () => {
    const code = [
      'interface Order { id: string; total: number }',
      'const orders = args.orders as Order[];',
      'const sum = (list: readonly Order[]): number => list.reduce((all, one) => all + one.total, 0);',
      'if (sum(orders) > 10) throw new RangeError("too much" satisfies string);',
      'return sum(orders)!;',
    ].join('\n');
    expect(
      (await service.run(code, { args: { orders: [{ total: 4 }, { total: 5 }] } })).body.result,
    ).toBe(9);
    const failed = await service.run(code, { args: { orders: [{ total: 40 }] } });
    expect(failed.body).toMatchObject({
      error: 'too much',
      errorName: 'RangeError',
      line: 4,
      column: 43,
    });
  });

  it('never parses JavaScript as TypeScript', async () => {
    const answer = await service.run(
      'const f = 7, a = 3, b = 1; return [f < a, b > (2)].length + (f<a>(b) ? 1 : 0)',
    );
    expect(answer.body.result).toBe(2);
  });

  it.each([
    ['no body', undefined, 'A JSON body is required'],
    ['no handler', { args: {} }, 'handlerCode is required'],
    ['an empty handler', { handlerCode: '', args: {} }, 'handlerCode is required'],
    [
      'a handler that is not a string',
      { handlerCode: 5, args: {} },
      'handlerCode must be a string',
    ],
    ['no args', { handlerCode: 'return 1' }, 'args'],
    ['args that are not an object', { handlerCode: 'return 1', args: [] }, 'args'],
    ['a time limit of 0', { handlerCode: 'return 1', args: {}, timeoutMs: 0 }, 'timeoutMs'],
    [
      'a time limit above the maximum',
      { handlerCode: 'return 1', args: {}, timeoutMs: 60_001 },
      'timeoutMs',
    ],
    [
      'a host with a path',
      { handlerCode: 'return 1', args: {}, allowedHosts: ['a/b'] },
      'allowedHosts',
    ],
    ['an unknown field', { handlerCode: 'return 1', args: {}, env: {} }, 'env'],
    [
      'a callback to another origin',
      { handlerCode: 'return 1', args: {}, callback: { token: 'a', url: 'http://evil.example/' } },
      'callback.url',
    ],
  ])('%s is refused with 400, which names the field', async (_name, body, text) => {
    const answer = await service.post('/execute', body === undefined ? '' : body);
    expect(answer.status).toBe(400);
    expect(answer.body).toMatchObject({
      error: expect.stringContaining(text),
      requestId: expect.any(String),
    });
  });

  it('accepts args up to 1 MiB and returns results up to 1 MiB', async () => {
    const text = 'x'.repeat(executorLimits.argsBytes - 100);
    expect((await service.run('return args.text.length', { args: { text } })).body.result).toBe(
      text.length,
    );
    expect(
      (
        await service.run('return args.text.length', {
          args: { text: `${text}${'x'.repeat(100)}` },
        })
      ).status,
    ).toBe(413);
    expect((await service.run('return "x".repeat(1048574)')).body.result).toHaveLength(1_048_574);
    expect((await service.run('return "x".repeat(1048575)')).body.error).toBe(
      'The result is larger than 1048576 bytes',
    );
    expect((await service.run('return "é".repeat(600000)')).body.error).toBe(
      'The result is larger than 1048576 bytes',
    );
    expect(sandboxLimits.resultBytes).toBe(executorLimits.resultBytes);
  });

  it('returns console output in order, up to a limit', async () => {
    const code = `console.log('a', 1, { b: [true, null] }); console.error(new Error('bad')); console.warn(undefined)
      console.debug(new Map([[1, { a: 1 }]]), 5n, Symbol('s')); console.info(\`\${'x'.repeat(20_000)}\`)`;
    const { logs } = (await service.run(code)).body as {
      logs: { level: string; message: string }[];
    };
    expect(logs.slice(0, 1)).toEqual([{ level: 'log', message: 'a 1 { b: [true, null] }' }]);
    expect(logs[1]).toEqual({
      level: 'error',
      message: expect.stringMatching(/^Error: bad\n +at <anonymous> \(handler:1:/),
    });
    expect(logs[2]).toEqual({ level: 'warn', message: 'undefined' });
    expect(logs[3]).toEqual({ level: 'debug', message: 'Map [[1, { a: 1 }]] 5n Symbol(s)' });
    expect(logs[4]!.message).toHaveLength(8192);
    const many = await service.run(
      'for (let i = 0; i < 1000; i++) console.log(i); throw new Error("end")',
    );
    expect(many.body.logs).toHaveLength(201);
    expect((many.body.logs as unknown[]).at(-1)).toEqual({
      level: 'warn',
      message: 'Further output was dropped',
    });
    expect(many.body.error).toBe('end');
  });

  it('is answered with 500 after the time limit', async () => {
    const answer = await service.run('for (;;);', { timeoutMs: 100 });
    expect(answer).toMatchObject({
      status: 500,
      body: { error: 'Execution time exceeded', code: 'execution_time_exceeded' },
    });
  });
});

describe('POST /validate', () => {
  it.each([
    'return 1',
    'const a: number = await parley.x.y({}); return a',
    'type A = { b: string }\nreturn {} as A',
    'for await (const x of []) {}\nreturn import.meta ? 1 : 2'.replace('import.meta', 'args'),
    '// a comment without an end of line',
    'return 1 // }',
    '"use strict"; return this',
  ])('%j is valid', async (handlerCode) => {
    expect(await service.post('/validate', { handlerCode })).toMatchObject({
      status: 200,
      body: { valid: true },
    });
  });

  it.each([
    ['let x = 1\nreturn x +* 2', 2, 11],
    ['const a: = 1', 1, 10],
    ['return "abc', 1, 8],
    ['\n\n  if (', 4, undefined],
    ['enum Color { Red }', 1, 1],
    ['return 1\n}); (async () => {', 2, 2],
    ['}\nfunction other() {', 2, undefined],
    ['import fs from "node:fs"', 1, 1],
    ['return 1 }, function () {', 1, undefined],
    ['return 1 }]; [async function () {', 1, undefined],
    ['/* never closed', undefined, undefined],
    ['return `${`', undefined, undefined],
  ])('%j is not valid, and has the position of the error', async (handlerCode, line, column) => {
    const { status, body } = await service.post('/validate', { handlerCode });
    expect({ status, valid: body.valid }).toEqual({ status: 200, valid: false });
    expect(body.error).toEqual(expect.any(String));
    if (line !== undefined) expect(body.line).toBe(line);
    if (column !== undefined) expect(body.column).toBe(column);
  });

  it('does not run the handler', async () => {
    const answer = await service.post('/validate', { handlerCode: '}); for (;;); (async () => {' });
    expect(answer.body).toMatchObject({ valid: false, line: 1, column: 2 });
    expect((await service.post('/validate', { handlerCode: 'for (;;);' })).body.valid).toBe(true);
  });

  it.each([
    ['parentheses', '('.repeat(100_000)],
    ['arrays', '['.repeat(100_000)],
    ['nested arrows', 'a=>'.repeat(50_000)],
    ['generics', 'a<'.repeat(50_000)],
    ['types', `let a: ${'['.repeat(50_000)}`],
    ['conditionals', `${'a?(b):'.repeat(20_000)}c: number`],
    ['templates', '`${'.repeat(30_000)],
  ])(
    'survives deeply nested %s, and still parses TypeScript afterwards',
    async (_name, handlerCode) => {
      expect((await service.post('/validate', { handlerCode })).body).toMatchObject({
        valid: false,
      });
      const code = `const a: number = ${Math.random()}; return a`;
      expect((await service.post('/validate', { handlerCode: code })).body).toEqual({
        valid: true,
      });
    },
  );

  it.each([
    [{}, 'handlerCode is required'],
    [{ handlerCode: 'x'.repeat(262_145) }, 'handlerCode'],
  ])('a body without a valid handler is refused with 400', async (body, text) => {
    const answer = await service.post('/validate', body);
    expect(answer).toMatchObject({ status: 400, body: { error: expect.stringContaining(text) } });
  });
});

it('answers unknown methods and paths with 405 and 404', async () => {
  expect((await fetch(`${service.url}/execute`)).status).toBe(405);
  expect((await service.post('/nope', {})).status).toBe(404);
});
