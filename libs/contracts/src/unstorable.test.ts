import { findUnstorable, maxJsonDepth } from './unstorable';

/** `{"a":{"a":…1}}` with so many objects. */
const nested = (depth: number): unknown => (depth === 0 ? 1 : { a: nested(depth - 1) });

describe('findUnstorable', () => {
  it.each<[string, unknown]>([
    ['plain values', { a: 'text ✓ 🎉', b: [1, -0, 1.5e308, null, true], c: { d: '' } }],
    ['a key called __proto__', JSON.parse('{"__proto__":{"x":1}}')],
    ['nesting up to the limit', nested(maxJsonDepth)],
    ['no body at all', undefined],
  ])('takes %s', (_name, value) => {
    expect(findUnstorable(value)).toBeNull();
  });

  it.each<[string, unknown, string, RegExp]>([
    ['NUL', { a: { b: ['x', 'y\u0000'] } }, 'a.b.1', /NUL/],
    ['half a surrogate pair', { a: '\ud83c' }, 'a', /surrogate/],
    ['such a key', { a: { 'b\ud800': 1 } }, 'a', /key.*surrogate/],
    ['such a key at the top', { 'x\u0000': 1 }, '(key)', /key.*NUL/],
    ['a number past the range of a double', JSON.parse('{"a":[1e400]}'), 'a.0', /out of range/],
    ['nesting past the limit', nested(maxJsonDepth + 1), Array(maxJsonDepth).fill('a').join('.'), /nested deeper/],
  ])('names the place of %s', (_name, value, path, message) => {
    expect(findUnstorable(value)).toEqual({ path, message: expect.stringMatching(message) });
  });

  it('walks what would overflow a recursive walk', () => {
    const text = `${'['.repeat(200_000)}1${']'.repeat(200_000)}`;
    expect(findUnstorable(JSON.parse(text))?.message).toMatch(/nested deeper/);
  });
});
