import { rowsBetween, toggled } from './selection';

test('the rows between two are those in both directions, with both', () => {
  expect(rowsBetween(2, 5)).toEqual([2, 3, 4, 5]);
  expect(rowsBetween(5, 2)).toEqual([2, 3, 4, 5]);
  expect(rowsBetween(3, 3)).toEqual([3]);
});

test('without a row that was pressed before, it is the row alone', () => {
  expect(rowsBetween(-1, 4)).toEqual([4]);
});

const after = (ids: string[], pressed: string, touched: (string | undefined)[]) => [
  ...toggled(ids, pressed, touched),
];

test('a row is selected, and pressed again it is not', () => {
  expect(after([], 'a', ['a'])).toEqual(['a']);
  expect(after(['a', 'b'], 'a', ['a'])).toEqual(['b']);
});

test('all rows of a range get the state of the one that was pressed', () => {
  expect(after(['b'], 'c', ['a', 'b', 'c'])).toEqual(['b', 'a', 'c']);
  expect(after(['a', 'c', 'z'], 'c', ['a', 'b', 'c'])).toEqual(['z']);
});

test('a row that is not loaded has no id, and stays', () => {
  expect(after([], 'c', ['a', undefined, 'c'])).toEqual(['a', 'c']);
});
