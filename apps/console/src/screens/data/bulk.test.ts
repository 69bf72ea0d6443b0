import type { Entity } from '@parley/client';
import { type Answer, clientOf } from '../../testing/answers';
import { entityOf } from '../../testing/entities';
import type { Progress } from '../../work/work';
import { type Operation, batchSize, change, groupsOf, pagesOf, reasonOf } from './bulk';

const progress: Progress = {
  signal: new AbortController().signal,
  advance: () => undefined,
  wait: () => undefined,
  refuse: () => undefined,
  refused: () => 0,
};
const create = (text = ''): Operation => ({ action: 'create', data: { text } });

test.each([
  [0, 0, 0],
  [1, 0, 1],
  [500, 0, 500],
  [501, 0, 500],
  [1_200, 1_000, 200],
])('of %i small operations, those from %i on make a request of %i', (count, from, size) => {
  expect(
    batchSize(
      Array.from({ length: count }, () => create()),
      from,
    ),
  ).toBe(size);
});

test('a request has at most 4 MiB of operations, in bytes of UTF-8, unless it has only one', () => {
  const mebibyte = create('x'.repeat(1_048_576 - 100));
  expect(batchSize([mebibyte, mebibyte, mebibyte, mebibyte, mebibyte], 0)).toBe(4);
  const wide = create('ñ'.repeat(1_048_576));
  expect(batchSize([wide, wide, wide], 0)).toBe(1);
  const huge = create('x'.repeat(6 * 1_048_576));
  expect(batchSize([huge, create()], 0)).toBe(1);
  expect(batchSize([create(), huge], 0)).toBe(1);
});

test('the reason of a refused operation is that of its first field, else its own', () => {
  expect(reasonOf({ error: 'Invalid data', details: [{ message: '"a" is wrong' }] })).toBe(
    '"a" is wrong',
  );
  expect(reasonOf({ error: 'Not found', details: [] })).toBe('Not found');
  expect(reasonOf({ error: 'Not found' })).toBe('Not found');
});

/** Answers a query of this many entities, in pages of the limit. */
const queried =
  (count: number) =>
  (sent: { body: unknown }): Answer => {
    const { cursor = '0', limit } = sent.body as { cursor?: string; limit: number };
    const from = Number(cursor);
    const data: Entity[] = Array.from({ length: Math.min(limit, count - from) }, (_, at) =>
      entityOf(`e${from + at}`),
    );
    return { body: { data, cursor: String(from + limit), hasMore: from + limit < count } };
  };
const sizes = async (groups: AsyncGenerator<Entity[]>) => {
  const found: number[] = [];
  for await (const group of groups) found.push(group.length);
  return found;
};

test.each([
  [0, []],
  [1, [1]],
  [500, [500]],
  [501, [500, 1]],
  [1_250, [500, 500, 250]],
])('%i matching entities are read in groups', async (count, groups) => {
  const { client, sent } = clientOf(queried(count));
  const query = { filters: { status: { $eq: 'x' } }, sort: { field: 'createdAt' } } as Parameters<
    typeof groupsOf
  >[2];
  expect(await sizes(groupsOf(client, 'order', query, progress))).toEqual(groups);
  // A change of a field that sorts would move entities between pages.
  expect(sent.every(({ body }) => !('sort' in (body as object)))).toBe(true);
});

test('pages follow each other by their cursors', async () => {
  const { client, sent } = clientOf(queried(250));
  const ids: string[] = [];
  for await (const page of pagesOf(client, 'order', {}, progress))
    ids.push(...page.data.map(({ id }) => id));
  expect(new Set(ids).size).toBe(250);
  expect(sent.map(({ body }) => (body as { cursor?: string }).cursor)).toEqual([
    undefined,
    '100',
    '200',
  ]);
});

test('each operation gets its result, over all requests, and each request a key of its own', async () => {
  const { client, sent } = clientOf(({ body }) => {
    const { operations } = body as { operations: { data: { text: string } }[] };
    const results = operations.map(({ data: { text } }) =>
      text === '7' ? { ok: false, error: 'Refused', code: 'x' } : { ok: true, id: `id ${text}` },
    );
    return { body: { results } };
  });
  const operations = Array.from({ length: 700 }, (_, at) => create(String(at)));
  const seen: [number, string | null, string | null][] = [];
  await change(client, 'order', operations, progress, (...result) => seen.push(result));
  expect(sent).toHaveLength(2);
  expect(new Set(sent.map(({ key }) => key)).size).toBe(2);
  expect(seen).toHaveLength(700);
  expect(seen[7]).toEqual([7, 'Refused', null]);
  expect(seen[699]).toEqual([699, null, 'id 699']);
});

test('no operations send nothing', async () => {
  const { client, sent } = clientOf(() => ({}));
  await change(client, 'order', [], progress, () => undefined);
  expect(sent).toEqual([]);
});

test('a batch whose answer was lost is sent again with the same key', async () => {
  jest.useFakeTimers();
  const { client, sent } = clientOf((_, index) =>
    index === 0 ? 'lost' : { body: { results: [{ ok: true, id: 'e' }] } },
  );
  const changed = change(client, 'order', [create()], progress, () => undefined);
  await jest.runAllTimersAsync();
  await changed;
  jest.useRealTimers();
  expect(sent).toHaveLength(2);
  expect(sent[0]!.key).toBe(sent[1]!.key);
});
