import type { JsonObject } from '@parley/contracts';
import { type ParameterCheck, compileParameters, parameterProblems } from './parameters';

function compileCheck(parameters: JsonObject): ParameterCheck {
  const compiled = compileParameters(parameters);
  if (!compiled.ok) throw new Error(`does not compile: ${JSON.stringify(parameterProblems(parameters))}`);
  return compiled.check;
}

const string = { type: 'string' };

describe('a check', () => {
  const check = compileCheck({
    type: 'object',
    properties: {
      id: string,
      count: { type: 'integer', minimum: 1 },
      size: { enum: ['s', 'm'] },
      lines: { type: 'array', items: { type: 'object', required: ['sku'], properties: { sku: string } } },
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
  ])('of %j returns %p', (args, problem) => {
    expect(check(args as JsonObject)).toBe(problem);
  });

  it('does not change the arguments', () => {
    const args = { n: '1', extra: true };
    const properties = { n: {}, d: { default: 5 } };
    expect(compileCheck({ type: 'object', properties, additionalProperties: true })(args)).toBeNull();
    expect(args).toEqual({ n: '1', extra: true });
  });

  it('reads own properties only', () => {
    expect(compileCheck({ type: 'object', required: ['constructor'] })({})).toBe(
      "must have required property 'constructor'",
    );
    const check = compileCheck({ type: 'object', properties: { toString: string } });
    expect(check({})).toBeNull();
    const additional = compileCheck({ type: 'object', additionalProperties: false });
    expect(additional(JSON.parse('{"__proto__": 1}') as JsonObject)).toBe('must not have "__proto__"');
  });

  it('ignores formats', () => {
    expect(
      compileCheck({ type: 'object', properties: { at: { type: 'string', format: 'date-time' } } })({ at: 'noon' }),
    ).toBe(null);
    expect(parameterProblems({ type: 'object', properties: { x: { format: 'no-such-format' } } })).toEqual([]);
  });

  it('follows references inside the document, including to the document itself', () => {
    const node = { type: 'object', properties: { next: { $ref: '#/definitions/node' } }, additionalProperties: false };
    const check = compileCheck({
      type: 'object',
      definitions: { node },
      properties: { root: { $ref: '#/definitions/node' } },
    });
    expect(check({ root: { next: { next: {} } } })).toBeNull();
    expect(check({ root: { next: { nxt: {} } } })).toBe('root.next must not have "nxt"');
    const tree = compileCheck({ type: 'object', properties: { left: { $ref: '#' } }, additionalProperties: false });
    expect([tree({ left: { left: {} } }), tree({ left: { x: 1 } })]).toEqual([null, 'left must not have "x"']);
  });

  it('allows properties whose names are keywords', () => {
    expect(parameterProblems({ type: 'object', properties: { $ref: string, $id: string, pattern: string } })).toEqual(
      [],
    );
  });
});

describe('parameters are refused when they contain', () => {
  it.each<[string, JsonObject, RegExp]>([
    ['a reference to the network', { properties: { a: { $ref: 'https://example.com/s.json' } } }, /same document/],
    ['a reference to a file', { properties: { a: { $ref: 'file:///etc/passwd' } } }, /same document/],
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
  ])('%s', (_name, parameters, message) => {
    const problems = parameterProblems(parameters);
    expect(problems).toHaveLength(1);
    expect(problems[0]!.message).toMatch(message);
    expect(compileParameters(parameters).ok).toBe(false);
  });
});

describe('two schemas with the same $id', () => {
  it('do not affect each other', () => {
    const one = compileCheck({
      $id: 'https://example.com/s',
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      required: ['a'],
    });
    const two = compileCheck({ $id: 'https://example.com/s', required: ['b'] });
    expect([one({ a: 1 }), two({ a: 1 })]).toEqual([null, "must have required property 'b'"]);
  });
});

describe('hostile schemas and arguments end in bounded time', () => {
  const bomb = `${'a'.repeat(50)}!`;
  const laughs = Object.fromEntries(
    Array.from({ length: 40 }, (_, n) => [`d${n}`, { anyOf: Array(2).fill({ $ref: `#/definitions/d${n + 1}` }) }]),
  );

  it.each<[string, JsonObject, JsonObject]>([
    ['a pattern', { properties: { a: { pattern: '^(a+)+$' } } }, { a: bomb }],
    [
      'a pattern on every item',
      { properties: { a: { items: { pattern: '^(a|aa)+$' } } } },
      { a: Array(100).fill(bomb) },
    ],
    ['a pattern for names', { patternProperties: { '^(a+)+$': string } }, { [bomb]: 1 }],
    ['references that double', { definitions: { ...laughs, d40: false }, $ref: '#/definitions/d0' }, { a: 1 }],
    ['a schema that is itself', { allOf: [{ $ref: '#' }] }, { a: 1 }],
    [
      'unique objects',
      { properties: { a: { uniqueItems: true } } },
      { a: Array.from({ length: 30_000 }, (_, n) => ({ n })) },
    ],
  ])('%s', (_name, parameters, args) => {
    const check = compileCheck(parameters);
    const startedMs = performance.now();
    expect(check(args)).toBe('are too complex to check against the parameters of this tool');
    expect(performance.now() - startedMs).toBeLessThan(2_000);
  });

  it('while the same patterns work for ordinary arguments', () => {
    const check = compileCheck({ properties: { a: { pattern: '^(a+)+$' } } });
    expect(check({ a: 'aaa' })).toBeNull();
    expect(check({ a: 'b' })).toBe('a must match pattern "^(a+)+$"');
  });
});
