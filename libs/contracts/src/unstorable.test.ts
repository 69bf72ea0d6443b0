import { findUnstorable, maxJsonDepth } from './unstorable';

/** `{"a":{"a":…1}}` with `depth` objects. */
const nested = (depth: number): unknown => (depth === 0 ? 1 : { a: nested(depth - 1) });

describe('findUnstorable', () => {
  it.each<[string, unknown]>([
    ['plain values', { a: 'text ✓ 🎉', b: [1, -0, 1.5e308, null, true], c: { d: '' } }],
    ['a key called __proto__', JSON.parse('{"__proto__":{"x":1}}')],
    ['nesting up to the limit', nested(maxJsonDepth)],
    ['a missing body', undefined],
  ])('accepts %s', (_name, value) => {
    expect(findUnstorable(value)).toBeNull();
  });

  it.each<[string, unknown, string, RegExp]>([
    ['NUL', { a: { b: ['x', 'y\u0000'] } }, 'a.b.1', /NUL/],
    ['half a surrogate pair', { a: '\ud83c' }, 'a', /surrogate/],
    ['half a surrogate pair in a key', { a: { 'b\ud800': 1 } }, 'a', /key.*surrogate/],
    ['NUL in a top-level key', { 'x\u0000': 1 }, '(key)', /key.*NUL/],
    ['a number beyond the range of a double', JSON.parse('{"a":[1e400]}'), 'a.0', /out of range/],
    [
      'nesting beyond the limit',
      nested(maxJsonDepth + 1),
      Array(maxJsonDepth).fill('a').join('.'),
      /nested deeper/,
    ],
  ])('reports the path of %s', (_name, value, path, message) => {
    expect(findUnstorable(value)).toEqual({ path, message: expect.stringMatching(message) });
  });

  it('ends at the limit, so that no nesting overflows the stack', () => {
    const text = `${'['.repeat(200_000)}1${']'.repeat(200_000)}`;
    expect(findUnstorable(JSON.parse(text))?.message).toMatch(/nested deeper/);
  });
});
