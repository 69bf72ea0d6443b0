import { countNew, orderOf, rowsOf, withOlder } from './steady-order';

interface Item {
  id: string;
  at: number;
}
const item = (id: string, at = 0): Item => ({ id, at });
const keys = { idOf: ({ id }: Item) => id, changedAtOf: ({ at }: Item) => at };
const orderIn = (items: Item[]) => orderOf(items, { ...keys, reset: '' });
const shown = (order: ReturnType<typeof orderIn>, fresh: Item[], known: Item[] = []) =>
  rowsOf(order, fresh, new Map(known.map((one) => [one.id, one])), keys.idOf).map(
    ({ item: { id, at }, isGone }) => `${id}${at}${isGone ? ' left' : ''}`,
  );

test('rows keep their places, and change in them', () => {
  const order = orderIn([item('a', 3), item('b', 2), item('c', 1)]);
  expect(shown(order, [item('c', 9), item('a', 3), item('b', 2)])).toEqual(['a3', 'b2', 'c9']);
});

test('a row that left the list stays as it was, unless nothing is known of it', () => {
  const order = orderIn([item('a'), item('b')]);
  expect(shown(order, [item('a')], [item('b', 7)])).toEqual(['a0', 'b7 left']);
  expect(shown(order, [item('a')])).toEqual(['a0']);
});

test('a new row waits, and is counted with those that changed', () => {
  const order = orderIn([item('a', 3), item('b', 2)]);
  const fresh = [item('new', 9), item('b', 8), item('a', 3)];
  expect(shown(order, fresh)).toEqual(['a3', 'b8']);
  expect(countNew(order, fresh, keys)).toBe(2);
  expect(countNew(orderIn(fresh), fresh, keys)).toBe(0);
});

test('a row whose clock went back is not new', () => {
  expect(countNew(orderIn([item('a', 5)]), [item('a', 4)], keys)).toBe(0);
});

test('rows that scrolling has loaded are added at the end', () => {
  const fresh = [item('new', 9), item('b', 2), item('a', 3), item('old', 1), item('older', 0)];
  const order = withOlder(orderIn([item('a', 3), item('b', 2)]), fresh, keys);
  expect(order.ids).toEqual(['a', 'b', 'old', 'older']);
  expect(countNew(order, fresh, keys)).toBe(1);
});

test('without a shown row that is still in the list, nothing is known of what is older', () => {
  const order = orderIn([item('a')]);
  expect(withOlder(order, [item('x'), item('y')], keys)).toBe(order);
  expect(withOlder(order, [item('x'), item('a')], keys)).toBe(order);
  expect(withOlder(order, [], keys)).toBe(order);
});
