import { Worker } from 'node:worker_threads';
import type { Json, JsonObject } from '@parley/contracts';
import { Ajv } from 'ajv';
import { checkArguments, parameterProblems } from './parameters';

/** Checks arguments as a tool does. Resolves with the problem, or null. */
function compileCheck(parameters: JsonObject) {
  return async (args: JsonObject) => {
    const checked = await checkArguments(parameters, args, 'org_1');
    return checked.ok ? null : checked.message;
  };
}
const problemsOf = (parameters: JsonObject) => parameterProblems(parameters, 'org_1');

const string = { type: 'string' };

describe('a check', () => {
  const check = compileCheck({
    type: 'object',
    properties: {
      id: string,
      count: { type: 'integer', minimum: 1 },
      size: { enum: ['s', 'm'] },
      lines: {
        type: 'array',
        items: { type: 'object', required: ['sku'], properties: { sku: string } },
      },
    },
    required: ['id'],
    additionalProperties: false,
  });

  it.each([
    [{ id: 'a' }, null],
    [{ id: 'a', count: 2, size: 's', lines: [{ sku: 'x' }] }, null],
    [{}, "must have required property 'id'"],
    [{ id: 7 }, 'id must be string'],
    [{ id: 'a', count: '2' }, 'count must be integer'],
    [{ id: 'a', count: 0 }, 'count must be >= 1'],
    [{ id: 'a', size: 'xl' }, 'size must be one of ["s","m"]'],
    [{ id: 'a', other: 1 }, 'must not have "other"'],
    [{ id: 'a', lines: [{ sku: 'x' }, {}] }, "lines.1 must have required property 'sku'"],
  ])('of %j returns %p', async (args, problem) => {
    expect(await check(args as JsonObject)).toBe(problem);
  });

  it('does not change the arguments', async () => {
    const args = { n: '1', extra: true };
    const properties = { n: {}, d: { default: 5 } };
    expect(
      await compileCheck({ type: 'object', properties, additionalProperties: true })(args),
    ).toBeNull();
    expect(args).toEqual({ n: '1', extra: true });
  });

  it('reads own properties only', async () => {
    expect(await compileCheck({ type: 'object', required: ['constructor'] })({})).toBe(
      "must have required property 'constructor'",
    );
    const check = compileCheck({ type: 'object', properties: { toString: string } });
    expect(await check({})).toBeNull();
    const additional = compileCheck({ type: 'object', additionalProperties: false });
    expect(await additional(JSON.parse('{"__proto__": 1}') as JsonObject)).toBe(
      'must not have "__proto__"',
    );
  });

  it('ignores formats', async () => {
    expect(
      await compileCheck({
        type: 'object',
        properties: { at: { type: 'string', format: 'date-time' } },
      })({
        at: 'noon',
      }),
    ).toBe(null);
    expect(
      await problemsOf({ type: 'object', properties: { x: { format: 'no-such-format' } } }),
    ).toEqual([]);
  });

  it('follows references inside the document, including to the document itself', async () => {
    const node = {
      type: 'object',
      properties: { next: { $ref: '#/definitions/node' } },
      additionalProperties: false,
    };
    const check = compileCheck({
      type: 'object',
      definitions: { node },
      properties: { root: { $ref: '#/definitions/node' } },
    });
    expect(await check({ root: { next: { next: {} } } })).toBeNull();
    expect(await check({ root: { next: { nxt: {} } } })).toBe('root.next must not have "nxt"');
    const tree = compileCheck({
      type: 'object',
      properties: { left: { $ref: '#' } },
      additionalProperties: false,
    });
    expect([await tree({ left: { left: {} } }), await tree({ left: { x: 1 } })]).toEqual([
      null,
      'left must not have "x"',
    ]);
  });

  it('allows properties whose names are keywords', async () => {
    expect(
      await problemsOf({
        type: 'object',
        properties: { $ref: string, $id: string, pattern: string },
      }),
    ).toEqual([]);
  });
});

describe('parameters are refused when they contain', () => {
  it.each<[string, JsonObject, RegExp]>([
    [
      'a reference to the network',
      { properties: { a: { $ref: 'https://example.com/s.json' } } },
      /same document/,
    ],
    [
      'a reference to a file',
      { properties: { a: { $ref: 'file:///etc/passwd' } } },
      /same document/,
    ],
    ['a relative reference', { allOf: [{ $ref: 'other.json#/x' }] }, /same document/],
    [
      'a reference to a missing definition',
      { properties: { a: { $ref: '#/definitions/missing' } } },
      /resolve reference/,
    ],
    [
      'a nested $id',
      { properties: { a: { $id: 'https://example.com/a', type: 'string' } } },
      /only allowed at the top/,
    ],
    ['asynchronous checks', { $async: true }, /not supported/],
    ['a dynamic reference', { properties: { a: { $dynamicRef: '#a' } } }, /not supported/],
    ['a list', { type: 'array' }, /must be "object"/],
    ['an unknown type', { properties: { a: { type: 'text' } } }, /not a JSON Schema/],
    ['an invalid pattern', { properties: { a: { pattern: '(' } } }, /cannot be used/],
    ['too much text', { description: 'x'.repeat(70_000) }, /longer than/],
    [
      'deep nesting',
      { x: JSON.parse('['.repeat(20_000) + ']'.repeat(20_000)) as Json },
      /too complex/,
    ],
  ])('%s', async (_name, parameters, message) => {
    const problems = await problemsOf(parameters);
    expect(problems).toHaveLength(1);
    expect(problems![0]!.message).toMatch(message);
  });
});

describe('two schemas with the same $id', () => {
  it('do not affect each other', async () => {
    const one = compileCheck({
      $id: 'https://example.com/s',
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      required: ['a'],
    });
    const two = compileCheck({ $id: 'https://example.com/s', required: ['b'] });
    expect([await one({ a: 1 }), await two({ a: 1 })]).toEqual([
      null,
      "must have required property 'b'",
    ]);
  });
});

const many = <T>(count: number, make: (n: number) => T): T[] =>
  Array.from({ length: count }, (_, n) => make(n));

/**
 * Does the work, and counts how often this thread asked another one, and how often it used
 * a schema itself.
 */
async function whileCounting<T>(work: () => Promise<T>) {
  const asked = jest.spyOn(Worker.prototype, 'postMessage');
  const own = [jest.spyOn(Ajv.prototype, 'compile'), jest.spyOn(Ajv.prototype, 'validateSchema')];
  try {
    const result = await work();
    return {
      result,
      asked: asked.mock.calls.length,
      own: own.flatMap(({ mock }) => mock.calls).length,
    };
  } finally {
    for (const spy of [asked, ...own]) spy.mockRestore();
  }
}

describe('hostile schemas and arguments end in bounded time, outside this thread', () => {
  const bomb = `${'a'.repeat(50)}!`;
  const laughs = Object.fromEntries(
    Array.from({ length: 40 }, (_, n) => [
      `d${n}`,
      { anyOf: Array(2).fill({ $ref: `#/definitions/d${n + 1}` }) },
    ]),
  );

  it.each<[string, JsonObject, JsonObject]>([
    ['a pattern', { properties: { a: { pattern: '^(a+)+$' } } }, { a: bomb }],
    [
      'a pattern on every item',
      { properties: { a: { items: { pattern: '^(a|aa)+$' } } } },
      { a: Array(100).fill(bomb) },
    ],
    ['a pattern for names', { patternProperties: { '^(a+)+$': string } }, { [bomb]: 1 }],
    [
      'references that double',
      { definitions: { ...laughs, d40: false }, $ref: '#/definitions/d0' },
      { a: 1 },
    ],
    ['a schema that is itself', { allOf: [{ $ref: '#' }] }, { a: 1 }],
    [
      'unique objects',
      { properties: { a: { uniqueItems: true } } },
      { a: Array.from({ length: 30_000 }, (_, n) => ({ n })) },
    ],
    [
      'a list of allowed objects',
      { properties: { a: { items: { enum: many(5_000, (n) => ({ n })) } } } },
      { a: many(50_000, () => ({ n: 4_999 })) },
    ],
  ])('%s', async (_name, parameters, args) => {
    const { result, asked, own } = await whileCounting(() => compileCheck(parameters)(args));
    expect(result).toBe('too complex to check against the parameters of this tool');
    expect({ isElsewhere: asked > 0, own }).toEqual({ isElsewhere: true, own: 0 });
  });

  it.each<[string, JsonObject]>([
    ['many allowed objects', { properties: { a: { enum: many(6_000, (n) => ({ n })) } } }],
    ['many alternatives', { anyOf: many(2_500, (n) => ({ minLength: n })) }],
    [
      'many patterns for names',
      { patternProperties: Object.fromEntries(many(2_000, (n) => [`^p${n}`, string])) },
    ],
  ])('%s', async (_name, parameters) => {
    expect(await whileCounting(() => problemsOf(parameters))).toMatchObject({ asked: 1, own: 0 });
  });

  it('and do not delay the check of another organization', async () => {
    const slow = { properties: { a: { pattern: '^(a+)+$' } } };
    const posted = jest.spyOn(Worker.prototype, 'postMessage');
    const hostile = many(4, () => checkArguments(slow, { a: bomb }, 'org_2'));
    const other = checkArguments({ properties: { b: { pattern: '^b$' } } }, { b: 'b' }, 'org_3');
    await Promise.all([...hostile, other]);
    const asked = posted.mock.calls.map(
      ([request]) => Object.keys((request as { args: JsonObject }).args)[0],
    );
    posted.mockRestore();
    // Two checks of the first organization take a thread each, and its others wait for
    // one of them to end.
    expect(asked).toEqual(['a', 'a', 'b', 'a', 'a']);
  });

  it('and an idle thread that has ended is not used again', async () => {
    const check = compileCheck({ properties: { a: { pattern: '^(b|c)$' } } });
    const posted = jest.spyOn(Worker.prototype, 'postMessage');
    await check({ a: 'b' });
    const [thread] = posted.mock.contexts;
    posted.mockRestore();
    await thread!.terminate();
    expect(await check({ a: 'b' })).toBeNull();
  });

  it('while the same patterns work for ordinary arguments', async () => {
    const check = compileCheck({ properties: { a: { pattern: '^(a+)+$' } } });
    expect(await check({ a: 'aaa' })).toBeNull();
    expect(await check({ a: 'b' })).toBe('a must match pattern "^(a+)+$"');
  });
});
