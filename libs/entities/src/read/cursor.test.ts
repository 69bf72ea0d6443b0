import { startOf } from './cursor';

test('a position that no entity can have is refused', () => {
  expect(startOf(['9223372036854775806'], false)).toEqual({
    key: null,
    pos: '9223372036854775806',
  });
  // A page after the greatest bigint would start outside of the type's range.
  for (const pos of [
    '9223372036854775807',
    '9223372036854775808',
    '9999999999999999999',
    '-1',
    '1.5',
    '',
  ]) {
    expect(startOf([pos], false)).toBeNull();
    expect(startOf(['30', pos], true)).toBeNull();
  }
});
