import { joinPages, mergeHead } from './merge-pages';

const idOf = (item: string): string => item[0]!;
const page = (items: string, cursor = '') => ({
  data: items === '' ? [] : items.split(' '),
  cursor,
  hasMore: cursor !== '',
});
const head = (items: string, cursor: string | null = 'older') => ({
  items: page(items).data,
  cursor,
});
const merged = (before: ReturnType<typeof head> | undefined, next: ReturnType<typeof page>) =>
  mergeHead(before, next, idOf);

test('the first page is the head', () => {
  expect(merged(undefined, page('c b', 'b'))).toEqual(head('c b', 'b'));
  expect(merged(undefined, page(''))).toEqual(head('', null));
});

test('what was known stays below the newest page, and its cursor too', () => {
  expect(merged(head('c b a'), page('e d c', 'c'))).toEqual(head('e d c b a'));
});

test('a changed item is shown as it is now, once', () => {
  expect(merged(head('c b a'), page('b2 c', 'c'))).toEqual(head('b2 c a'));
});

test('an item that moved to the front leaves no gap', () => {
  expect(merged(head('d c b a'), page('a2 d', 'd'))).toEqual(head('a2 d c b'));
});

test('an item that was deleted in the newest page is not shown', () => {
  expect(merged(head('d c b a'), page('d b', 'b'))).toEqual(head('d b a'));
});

test('after a long sleep the two have nothing in common: the page alone is shown, and what is older is loaded again', () => {
  expect(merged(head('c b a'), page('z y', 'y'))).toEqual(head('z y', 'y'));
});

test('a page that is the whole list replaces what was known', () => {
  expect(merged(head('c b a'), page('c'))).toEqual(head('c', null));
});

test('older pages come after the head, without what it has already', () => {
  expect(joinPages(['d', 'c2'], [page('c b', 'b'), page('a')], idOf)).toEqual([
    'd',
    'c2',
    'b',
    'a',
  ]);
  expect(joinPages([], [page('c b', 'b')], idOf)).toEqual(['c', 'b']);
  expect(joinPages(['a'], [], idOf)).toEqual(['a']);
});
