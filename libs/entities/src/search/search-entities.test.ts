import type { JsonObject } from '@parley/contracts';
import { createTestDatabase } from '@parley/testing';
import { type TestEntities, here, origin, startEntities } from '../testing/start-entities';
import { foldedWords } from './fold-text';
import { reindexType, searchStates, staleTypes } from './reindex-type';

let t: TestEntities;
beforeAll(async () => {
  t = await startEntities(await createTestDatabase());
});
afterAll(() => t.stop());

const search = async (type: string, query: string, extra: object = {}): Promise<unknown[]> => {
  const result = await t.entities.search(here, { type, query, limit: 20, ...extra });
  if (!result.ok) throw new Error(JSON.stringify(result));
  return result.list.entities.map(({ data }) => data.n);
};
const fill = async (type: string, searchFields: string[], rows: JsonObject[]): Promise<string> => {
  const id = await t.createType(type, { searchFields });
  for (const [n, row] of rows.entries()) await t.add(type, { n, ...row });
  return id;
};

test('words are folded to lower case without accents', () => {
  expect(foldedWords("Ünïcode, O'Brien—ÅNGSTRÖM 12.5 ① 你好 \u0000")).toEqual([
    'unicode',
    'o',
    'brien',
    'angstrom',
    '12',
    '5',
    '1',
    '你好',
  ]);
  expect(foldedWords('Straße ẞ Œuvre Łódź Ørsted ΟΔΟΣ Diyarbakır')).toEqual(
    ['strasse', 'ss', 'oeuvre', 'lodz', 'orsted', 'οδοσ', 'diyarbakir'], //
  );
  expect(foldedWords('Pizza🍕🍕 👍🏽 👨‍👩‍👧 🇨🇱 ❤️ ©')).toEqual(
    ['pizza', '🍕', '🍕', '👍', '👨', '👩', '👧', '🇨🇱', '❤', '©'], //
  );
});

test('all words must match, the last one as a prefix; case and accents are ignored', async () => {
  await fill(
    'doc',
    ['title', 'body.text', 'tags'],
    [
      { title: 'Café Crème', body: { text: 'served hot' }, tags: ['Drink', 'menu 7'] },
      { title: 'creme brulee', body: { text: 'dessert' } },
      { title: 'Tea', other: 'creme', tags: 5 },
      { title: null, body: 'creme' },
    ],
  );
  expect(await search('doc', 'creme')).toEqual([1, 0]);
  expect(await search('doc', 'CRÈM')).toEqual([1, 0]);
  expect(await search('doc', 'creme hot')).toEqual([0]);
  expect(await search('doc', 'crem hot')).toEqual([]);
  expect(await search('doc', 'hot creme')).toEqual([0]);
  expect(await search('doc', 'menu 7')).toEqual([0]);
  expect(await search('doc', '5')).toEqual([2]);
  expect(await search('doc', 'nothing')).toEqual([]);
});

test('sharp s and emoji are found', async () => {
  await fill(
    'special',
    ['text'],
    [{ text: 'Große Straße 5' }, { text: 'best 🍕 in town' }, { text: '👍🏿 fine' }],
  );
  expect(await search('special', 'strasse')).toEqual([0]);
  expect(await search('special', 'GROSSE STRAẞE')).toEqual([0]);
  expect(await search('special', '🍕')).toEqual([1]);
  expect(await search('special', 'fine 👍')).toEqual([2]);
  expect(await search('special', '🦜')).toEqual([]);
});

test.each([
  "'",
  '"',
  '\\',
  '& | !',
  ':*',
  '~:',
  "creme' & 'x",
  '()',
  '<->',
  '%',
  '\u0000',
  '\ud800',
  '💥',
])('the query %j is harmless', async (query) => {
  await expect(search('doc', query)).resolves.toEqual(expect.any(Array));
});

test('whole words rank first, then fields with a higher weight, then newer entities', async () => {
  await fill(
    'ranked',
    ['title', 'note'],
    [
      { note: 'red' },
      { title: 'reddish' },
      { title: 'red' },
      { title: 'red' },
      { title: 'red red red' },
    ],
  );
  expect(await search('ranked', 'red')).toEqual([4, 3, 2, 0, 1]);
  expect(await search('ranked', 'red', { limit: 2 })).toEqual([4, 3]);
});

test('a search finds the current text, and deleted entities only by status', async () => {
  await fill('changing', ['name'], [{ name: 'alpha' }]);
  const id = await t.add('changing', { n: 1, name: 'alpha' });
  await t.entities.update(here, { ...origin, type: 'changing', id, data: { name: 'beta' } });
  expect(await search('changing', 'alpha')).toEqual([0]);
  expect(await search('changing', 'beta')).toEqual([1]);
  await t.entities.remove(here, { ...origin, type: 'changing', id });
  expect(await search('changing', 'beta')).toEqual([]);
  expect(await search('changing', 'beta', { status: 'deleted' })).toEqual([1]);
  await t.entities.update(here, { ...origin, type: 'changing', id, status: 'archived' });
  expect(await search('changing', 'beta')).toEqual([1]);
  expect(await search('changing', 'beta', { status: 'archived' })).toEqual([1]);
  expect(await search('changing', 'beta', { status: 'active' })).toEqual([]);
});

describe('more entities than are searched without the index', () => {
  /** Creates the `oldest` entities, then 620 that all have the data `newer`. */
  async function fillMany(type: string, oldest: JsonObject[], newer: JsonObject): Promise<void> {
    await t.createType(type, { searchFields: ['title', 'text'] });
    for (const [n, row] of oldest.entries()) await t.add(type, { n, ...row });
    for (let at = 0; at < 620; at += 10)
      await Promise.all(
        Array.from({ length: 10 }, (_, i) =>
          t.entities.create(here, {
            ...origin,
            type,
            data: { n: oldest.length + at + i, ...newer },
          }),
        ),
      );
  }

  test('old matches are found by the index, and a frequent word among the newest entities', async () => {
    const ancient = { text: 'ancient common' };
    await fillMany('many', [ancient, ancient, ancient], { text: 'common' });
    expect((await search('many', 'ancient')).sort()).toEqual([0, 1, 2]);
    expect((await search('many', 'anci')).sort()).toEqual([0, 1, 2]);
    expect(await search('many', 'common')).toHaveLength(20);
  });

  test('an old entity with the whole word ranks before new ones with the prefix', async () => {
    await fillMany('prefixed', [{ text: 'red' }, { title: 'Red' }], { text: 'reddish' });
    expect((await search('prefixed', 'red')).slice(0, 2)).toEqual([1, 0]);
    expect(await search('prefixed', 'red', { limit: 1 })).toEqual([1]);
    expect((await search('prefixed', 'redd', { limit: 1 }))[0]).toBeGreaterThan(610);
  });
});

test('after a change of the search fields, entities are reindexed in batches; an interrupted run continues', async () => {
  const typeId = await fill(
    'reindexed',
    ['a'],
    Array.from({ length: 25 }, (_, i) => ({ a: `old${i}`, b: `new${i}` })),
  );
  await t.db.pool.query(`update entity_types set search_fields = '{b}' where id = $1`, [typeId]);
  expect(await staleTypes(t.db)).toEqual([{ ...here, typeId }]);
  const stop = new AbortController();
  const progress: number[] = [];
  const finished = await reindexType(t.db, typeId, {
    batchSize: 10,
    signal: stop.signal,
    onProgress: (done) => {
      progress.push(done);
      stop.abort();
    },
  });
  expect([finished, progress]).toEqual([false, [10]]);
  const state = async () =>
    (await searchStates(t.db, here)).find(({ slug }) => slug === 'reindexed')?.reindexing;
  expect(await state()).toEqual({ done: 10, share: expect.any(Number) });
  expect((await state())!.share).toBeGreaterThan(0.2);
  expect((await state())!.share).toBeLessThan(0.9);
  // Entities of finished batches are found by the new fields, all others by the old ones.
  expect(await search('reindexed', 'new3')).toEqual([3]);
  expect(await search('reindexed', 'old22')).toEqual([22]);
  await t.add('reindexed', { n: 99, a: 'old99', b: 'new99' });
  expect(
    await reindexType(t.db, typeId, {
      batchSize: 10,
      onProgress: (done) => void progress.push(done),
    }),
  ).toBe(true);
  expect(progress).toEqual([10, 20, 26]);
  expect(await search('reindexed', 'old')).toEqual([]);
  expect(await search('reindexed', 'new99')).toEqual([99]);
  expect(await search('reindexed', 'new', { limit: 100 })).toHaveLength(26);
  expect(await staleTypes(t.db)).toEqual([]);
  expect(await state()).toBe(null);
  expect(await reindexType(t.db, typeId)).toBe(true);
});
