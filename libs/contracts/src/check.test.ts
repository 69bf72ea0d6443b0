import { z } from 'zod';
import { check } from './check';

const schema = z.strictObject({
  name: z.string().min(1).max(5).optional(),
  code: z.string().min(2).optional(),
  tags: z.array(z.string()).min(1).max(2).optional(),
  count: z.number().int().min(1).max(3).optional(),
  price: z.number().positive().lt(10).optional(),
  kind: z.enum(['a', 'b']).optional(),
  only: z.literal('x').optional(),
  isOn: z.boolean().optional(),
  email: z.email().optional(),
  url: z.url().optional(),
  word: z.string().regex(/^\w+$/).optional(),
  own: z.string('must be said').optional(),
  even: z
    .number()
    .refine((value) => value % 2 === 0, 'must be even')
    .optional(),
  odd: z
    .number()
    .refine((value) => value % 2 === 1)
    .optional(),
  inner: z.strictObject({ id: z.string(), at: z.number() }).optional(),
  map: z.record(z.string().regex(/^[a-z]+$/, 'must be a word'), z.number()).optional(),
  both: z
    .union([z.string(), z.array(z.object({ text: z.string() }))], 'must be said, too')
    .optional(),
  value: z.union([z.string(), z.strictObject({ from: z.string(), to: z.string() })]).optional(),
  action: z
    .discriminatedUnion('type', [
      z.object({ type: z.literal('a') }),
      z.object({ type: z.literal('b') }),
    ])
    .optional(),
});

test.each([
  [{ name: '' }, 'name', 'must not be empty'],
  [{ name: 'toolong' }, 'name', 'must have at most 5 characters'],
  [{ name: 1 }, 'name', 'must be a string'],
  [{ name: null }, 'name', 'must be a string'],
  [{ code: 'a' }, 'code', 'must have at least 2 characters'],
  [{ tags: [] }, 'tags', 'must not be empty'],
  [{ tags: ['a', 'b', 'c'] }, 'tags', 'must have at most 2 items'],
  [{ tags: 'a' }, 'tags', 'must be a list'],
  [{ tags: [{}] }, 'tags.0', 'must be a string'],
  [{ count: 0 }, 'count', 'must be at least 1'],
  [{ count: 4 }, 'count', 'must be at most 3'],
  [{ count: 1.5 }, 'count', 'must be a whole number'],
  [{ count: '1' }, 'count', 'must be a number'],
  [{ price: 0 }, 'price', 'must be more than 0'],
  [{ price: 10 }, 'price', 'must be less than 10'],
  [{ kind: 'c' }, 'kind', 'must be one of "a", "b"'],
  [{ only: 'y' }, 'only', 'must be "x"'],
  [{ isOn: 'yes' }, 'isOn', 'must be true or false'],
  [{ email: 'x' }, 'email', 'must be an e-mail address'],
  [{ url: 'x' }, 'url', 'must be a URL'],
  [{ word: '-' }, 'word', 'is invalid'],
  [{ own: 1 }, 'own', 'must be said'],
  [{ even: 1 }, 'even', 'must be even'],
  [{ odd: 2 }, 'odd', 'is invalid'],
  [{ inner: 'x' }, 'inner', 'must be an object'],
  [{ inner: { at: 1 } }, 'inner.id', 'is required'],
  [{ inner: { id: 'x', at: 1, more: 1 } }, 'inner.more', 'is not a known field'],
  [{ map: { A: 1 } }, 'map.A', 'has a name that must be a word'],
  [{ map: { a: 'x' } }, 'map.a', 'must be a number'],
  [{ value: 1 }, 'value', 'must be a string or an object'],
  [{ both: [{}] }, 'both', 'must be said, too'],
  [{ value: { from: 'x' } }, 'value.to', 'is required'],
  [{ action: { type: 'c' } }, 'action.type', 'must be one of "a", "b"'],
  [{ action: {} }, 'action.type', 'is required'],
  [{ value: { form: 'x', from: 'x', to: 'x' } }, 'value.form', 'is not a known field'],
  [{ tags: 'a text that is longer than the list may be' }, 'tags', 'must be a list'],
  [{ tags: '' }, 'tags', 'must be a list'],
  [[], '', 'must be an object'],
  [undefined, '', 'is required'],
])('%j: %s %s', (value, path, message) => {
  expect(check(schema, value)).toEqual({ ok: false, problems: [{ path, message }] });
});

const many = Array.from({ length: 300 }, (_, index) => index);
test.each([
  ['keys of one issue', Object.fromEntries(many.map((index) => [`f${index}`, 1]))],
  [
    'issues',
    {
      map: Object.fromEntries(
        many.map((index) => [String.fromCharCode(97 + (index % 26)).repeat(index + 1), 'x']),
      ),
    },
  ],
])('lists at most 100 problems of %s, or as many as are wanted', (_what, value) => {
  const countOf = (checked: ReturnType<typeof check>) => (checked.ok ? 0 : checked.problems.length);
  expect(countOf(check(schema, value))).toBe(100);
  expect(countOf(check(schema, value, Infinity))).toBe(300);
});

test('a union of lists with very many wrong items is refused', () => {
  const lists = z.union([z.array(z.string()), z.array(z.object({ id: z.string() }))]);
  expect(
    check(
      lists,
      Array.from({ length: 300_000 }, () => 1),
    ),
  ).toMatchObject({ ok: false });
});

test('gives the value with its defaults', () => {
  expect(check(z.object({ size: z.number().default(3) }), { other: 1 })).toEqual({
    ok: true,
    value: { size: 3 },
  });
});
