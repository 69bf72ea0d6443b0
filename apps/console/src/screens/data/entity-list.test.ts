import type { Entity, EntityPage } from '@parley/client';
import { entityOf } from '../../testing/entities';
import { EntityList } from './entity-list';

const pageRows = 100;
/** A server with these ids, in pages of 100. `calls` are the cursors that were asked for. */
function serverOf(ids: string[]) {
  const server = {
    ids,
    calls: [] as (string | undefined)[],
    failure: null as Error | null,
    held: null as Promise<void> | null,
  };
  const load = async (cursor: string | undefined): Promise<EntityPage> => {
    server.calls.push(cursor);
    const page = pageAfter(server.ids, cursor);
    await server.held;
    if (server.failure) throw server.failure;
    return page;
  };
  return { server, list: new EntityList(load) };
}
/** A cursor is the id of the last row, as that of the server names a place and not a number. */
function pageAfter(ids: readonly string[], cursor: string | undefined): EntityPage {
  const from = cursor === undefined ? 0 : ids.indexOf(cursor) + 1;
  const data = ids.slice(from, from + pageRows).map((id) => entityOf(id));
  return { data, cursor: data.at(-1)?.id ?? '', hasMore: from + pageRows < ids.length };
}
const idsOf = (count: number) => Array.from({ length: count }, (_, at) => `e${at}`);
const turn = () => new Promise<void>((resolve) => setImmediate(resolve));
const refresh = (list: EntityList) => list.refresh(new AbortController().signal);

/** Shows a place as a grid does: again after each change, until nothing is missing. */
async function scrollTo(list: EntityList, row: number): Promise<void> {
  for (let version = -1; version !== list.version();) {
    version = list.version();
    list.show(row, row + 20);
    await turn();
  }
}

test('an empty list has no rows and no more', async () => {
  const { list } = serverOf([]);
  await refresh(list);
  expect([list.count, list.hasMore, list.at(0), list.indexOf('e0')]).toEqual([
    0,
    false,
    undefined,
    -1,
  ]);
  list.show(0, 0);
  await turn();
  expect(list.count).toBe(0);
});

test('the next page is loaded before its rows are seen', async () => {
  const { list, server } = serverOf(idsOf(250));
  await refresh(list);
  list.show(0, 20);
  await turn();
  expect(list.count).toBe(100);
  await scrollTo(list, 60);
  expect(list.count).toBe(200);
  await scrollTo(list, 180);
  expect([list.count, list.hasMore]).toEqual([250, false]);
  expect(server.calls).toEqual([undefined, 'e99', 'e199']);
  expect(list.at(249)?.id).toBe('e249');
  expect(list.indexOf('e249')).toBe(249);
});

test('a list of 20,000 rows holds those near the visible ones, and each keeps its place', async () => {
  const { list } = serverOf(idsOf(20_000));
  await refresh(list);
  for (let row = 0; row < 20_000; row += 50) await scrollTo(list, row);
  expect(list.count).toBe(20_000);
  expect(list.rows.length).toBeLessThanOrEqual(2_300);
  expect(list.at(0)).toBeUndefined();
  expect(list.at(19_990)?.id).toBe('e19990');
  await scrollTo(list, 0);
  expect(list.at(0)?.id).toBe('e0');
  expect(list.at(19_990)).toBeUndefined();
  expect(list.count).toBe(20_000);
});

test('a page is asked for once, however often it is shown while it is loaded', async () => {
  const { list, server } = serverOf(idsOf(250));
  await refresh(list);
  for (let times = 0; times < 5; times += 1) list.show(80, 99);
  await turn();
  expect(server.calls).toEqual([undefined, 'e99']);
});

test('an error stops loading until it is tried again', async () => {
  const { list, server } = serverOf(idsOf(250));
  await refresh(list);
  server.failure = new Error('away');
  await scrollTo(list, 80);
  expect([list.error, list.count]).toEqual([server.failure, 100]);
  await scrollTo(list, 80);
  expect(server.calls).toHaveLength(2);
  server.failure = null;
  list.retry();
  await turn();
  expect([list.error, list.count]).toEqual([null, 200]);
});

test('a refresh reads the visible pages again, and keeps the places of the others', async () => {
  const { list, server } = serverOf(idsOf(500));
  await refresh(list);
  await scrollTo(list, 250);
  server.calls.length = 0;
  await refresh(list);
  expect(server.calls).toEqual(['e199']);
  expect(list.count).toBe(400);
  expect(list.at(210)?.id).toBe('e210');
});

test('rows that were added before the visible ones move them, and what follows is loaded again', async () => {
  const { list, server } = serverOf(idsOf(300));
  await refresh(list);
  await scrollTo(list, 0);
  await scrollTo(list, 120);
  await scrollTo(list, 0);
  server.ids = ['new', ...server.ids];
  await refresh(list);
  expect(list.at(0)?.id).toBe('new');
  expect(list.count).toBe(100);
  expect(list.hasMore).toBe(true);
  await scrollTo(list, 80);
  expect(list.at(101)?.id).toBe('e100');
});

test('a list that became shorter ends earlier', async () => {
  const { list, server } = serverOf(idsOf(250));
  await refresh(list);
  await scrollTo(list, 240);
  await scrollTo(list, 0);
  server.ids = idsOf(30);
  await refresh(list);
  expect([list.count, list.hasMore, list.at(30)]).toEqual([30, false, undefined]);
});

test('a page that was let go and has changed since ends what is known after it', async () => {
  const { list, server } = serverOf(idsOf(3_000));
  await refresh(list);
  for (let row = 0; row < 2_900; row += 50) await scrollTo(list, row);
  server.ids = server.ids.filter((id) => id !== 'e5');
  await scrollTo(list, 0);
  expect(list.at(5)?.id).toBe('e6');
  expect(list.at(99)?.id).toBe('e100');
  expect(list.count).toBeLessThan(3_000);
  await scrollTo(list, 90);
  expect(list.at(100)?.id).toBe('e101');
});

test('the answer to an earlier request is not used after a refresh', async () => {
  const { list, server } = serverOf(idsOf(250));
  await refresh(list);
  let release = () => {};
  server.held = new Promise((resolve) => (release = resolve));
  list.show(80, 99);
  server.held = null;
  server.ids = ['new', ...idsOf(250)];
  await refresh(list);
  release();
  await turn();
  expect(list.count).toBe(100);
  await scrollTo(list, 80);
  expect(list.at(100)?.id).toBe('e99');
});

test('the failure of a request from before a refresh is ignored', async () => {
  const { list, server } = serverOf(idsOf(250));
  await refresh(list);
  let release = () => {};
  server.held = new Promise((_resolve, reject) => (release = () => reject(new Error('away'))));
  list.show(80, 99);
  server.held = null;
  await refresh(list);
  release();
  await turn();
  expect(list.error).toBeNull();
  await scrollTo(list, 80);
  expect(list.count).toBe(200);
});

test('a refresh that failed leaves what is shown', async () => {
  const { list, server } = serverOf(idsOf(50));
  await refresh(list);
  server.failure = new Error('away');
  await expect(refresh(list)).rejects.toThrow('away');
  expect([list.count, list.at(3)?.id]).toEqual([50, 'e3']);
});

test('of two refreshes the later one counts', async () => {
  const { list, server } = serverOf(['old']);
  let release = () => {};
  server.held = new Promise((resolve) => (release = resolve));
  const earlier = refresh(list);
  server.held = null;
  server.ids = ['new'];
  await refresh(list);
  release();
  await earlier;
  expect(list.rows.map(({ id }) => id)).toEqual(['new']);
});

test('a stored change is shown in its place, and subscribers are notified', async () => {
  const { list } = serverOf(idsOf(3));
  await refresh(list);
  let notifications = 0;
  const stop = list.subscribe(() => (notifications += 1));
  const changed: Entity = entityOf('e1', { name: 'Ana' });
  list.replace(changed);
  stop();
  list.replace(entityOf('unknown'));
  expect(list.rows.map(({ id, data }) => [id, data.name])).toEqual([
    ['e0', undefined],
    ['e1', 'Ana'],
    ['e2', undefined],
  ]);
  expect(notifications).toBe(1);
});
