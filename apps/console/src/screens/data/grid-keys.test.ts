import { type Position, moveOf, nextStop, rangeOf } from './grid-keys';

const size = { rows: 100, columns: 5, page: 20 };
const at = (row: number, column: number): Position => ({ row, column });
const move = (typed: string, from: Position, grid = size) => {
  const isFar = typed.startsWith('mod+');
  const key = typed.replace('mod+', '');
  return moveOf({ key, ctrlKey: isFar, metaKey: false }, from, grid);
};

test.each([
  ['ArrowUp', at(9, 2)],
  ['ArrowDown', at(11, 2)],
  ['ArrowLeft', at(10, 1)],
  ['ArrowRight', at(10, 3)],
  ['mod+ArrowUp', at(0, 2)],
  ['mod+ArrowDown', at(99, 2)],
  ['mod+ArrowLeft', at(10, 0)],
  ['mod+ArrowRight', at(10, 4)],
  ['PageUp', at(0, 2)],
  ['PageDown', at(30, 2)],
  ['Home', at(10, 0)],
  ['End', at(10, 4)],
  ['mod+Home', at(0, 0)],
  ['mod+End', at(99, 4)],
])('%s leads from the middle to %j', (key, to) => {
  expect(move(key, at(10, 2))).toEqual(to);
});

test('on a Mac it is the command key', () => {
  expect(moveOf({ key: 'ArrowDown', ctrlKey: false, metaKey: true }, at(0, 0), size)).toEqual(
    at(99, 0),
  );
});

test('the edges hold, and above the first row is the head', () => {
  expect(move('ArrowUp', at(0, 2))).toEqual(at(-1, 2));
  expect(move('ArrowUp', at(-1, 2))).toEqual(at(-1, 2));
  expect(move('ArrowDown', at(-1, 2))).toEqual(at(0, 2));
  expect(move('ArrowDown', at(99, 2))).toEqual(at(99, 2));
  expect(move('PageDown', at(95, 2))).toEqual(at(99, 2));
  expect(move('ArrowLeft', at(0, 0))).toEqual(at(0, 0));
  expect(move('ArrowRight', at(0, 4))).toEqual(at(0, 4));
});

test('an empty grid has its head only', () => {
  for (const key of ['ArrowUp', 'ArrowDown', 'PageUp', 'PageDown', 'mod+Home', 'mod+End'])
    expect(move(key, at(-1, 0), { ...size, rows: 0 })!.row).toBe(-1);
});

test.each(['a', 'Enter', 'Tab', 'Escape', ' ', 'ArrowUpward', ''])('%j is no move', (key) => {
  expect(move(key, at(0, 0))).toBeNull();
});

const isField = ({ column }: Position) => column === 1 || column === 3;
test.each<[Position, 1 | -1, Position | null]>([
  [at(4, 1), 1, at(4, 3)],
  [at(4, 3), 1, at(5, 1)],
  [at(4, 1), -1, at(3, 3)],
  [at(99, 3), 1, null],
  [at(0, 1), -1, null],
  [at(-1, 4), 1, at(0, 1)],
  [at(-1, 2), -1, null],
])('Tab from %j by %i leads to %j', (from, step, to) => {
  expect(nextStop(from, step, size, isField)).toEqual(to);
});

test('a grid without a field has no stop', () => {
  expect(nextStop(at(0, 0), 1, size, () => false)).toBeNull();
  expect(nextStop(at(-1, 0), 1, { ...size, rows: 0 }, isField)).toBeNull();
});

test('a range has all cells between two, in whichever direction, and never the head', () => {
  expect(rangeOf(at(5, 1), at(2, 4))).toEqual({ rows: [2, 5], columns: [1, 4] });
  expect(rangeOf(at(2, 4), at(5, 1))).toEqual({ rows: [2, 5], columns: [1, 4] });
  expect(rangeOf(at(-1, 0), at(3, 0))).toEqual({ rows: [0, 3], columns: [0, 0] });
});
