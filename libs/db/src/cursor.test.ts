import { decodeCursor, encodeCursor } from './cursor';

test('a cursor can be decoded for its own query only', () => {
  const cursor = encodeCursor('query', ['12', 'é']);
  expect(decodeCursor('query', cursor)).toEqual(['12', 'é']);
  expect(decodeCursor('other', cursor)).toBeNull();
});

test.each([
  '',
  '.',
  'c1',
  'c1.',
  'c1.!!!',
  'c1.bnVsbA',
  'c1.WzFd',
  'c2.W10',
  'c1.W10.W10',
  `c1.${'A'.repeat(3_000)}`,
])('the invalid cursor %p is refused', (cursor) =>
  expect(decodeCursor('query', cursor)).toBeNull(),
);
