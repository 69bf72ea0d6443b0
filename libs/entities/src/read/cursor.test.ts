import { decodeCursor, encodeCursor, startOf } from './cursor';

test('a cursor can be decoded for its own query only', () => {
  const cursor = encodeCursor('query', ['12', 'é']);
  expect(decodeCursor('query', cursor)).toEqual(['12', 'é']);
  expect(decodeCursor('other', cursor)).toBeNull();
});

test.each(['', '.', 'c1', 'c1.', 'c1.!!!', 'c1.bnVsbA', 'c1.WzFd', 'c2.W10', 'c1.W10.W10', `c1.${'A'.repeat(3_000)}`])(
  'the invalid cursor %p is refused',
  (cursor) => expect(decodeCursor('query', cursor)).toBeNull(),
);

test('a position that no entity can have is refused', () => {
  expect(startOf(['9223372036854775806'], false)).toEqual({ key: null, pos: '9223372036854775806' });
  // A page after the greatest bigint would start outside of the type's range.
  for (const pos of ['9223372036854775807', '9223372036854775808', '9999999999999999999', '-1', '1.5', '']) {
    expect(startOf([pos], false)).toBeNull();
    expect(startOf(['30', pos], true)).toBeNull();
  }
});
