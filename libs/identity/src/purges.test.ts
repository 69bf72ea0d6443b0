import { type Db, createDb } from '@parley/db';
import { openTestDatabase } from '@parley/testing';
import { dueUnsignedPurges, listPurges } from './purges';

let db: Db;

beforeAll(async () => {
  db = await openTestDatabase(createDb);
  await db.pool.query(
    `insert into organizations (id, slug, name, updated_at) values ('org_new', 'renamed', 'N', now())`,
  );
  for (const [name, signed, days, finishedAt] of [
    ['old', true, -3, new Date()],
    ['new', false, 1, null],
    ['later', false, 2, null],
  ] as const)
    await db.pool.query(
      `insert into organization_purges (id, organization_id, tenant, slug, signed, run_at, finished_at, report, created_at)
       values ('purge_' || $1::text, 'org_' || $1::text, 1, $1, $2, now() + make_interval(days => $3), $4, '{"users": 1}',
               now() + make_interval(days => $3 - 5))`,
      [name, signed, days, finishedAt],
    );
});
afterAll(() => db.close());

const slugsOf = (purges: { slug: string | null }[]) => purges.map(({ slug }) => slug);

test('purges are listed in pages, latest first, with the current slug of the organization', async () => {
  const first = await listPurges(db, { limit: 2, before: null });
  expect(slugsOf(first.items)).toEqual(['later', 'renamed']);
  const { askedAt: at, id } = first.items[1]!;
  const second = await listPurges(db, { limit: 2, before: { at, id } });
  expect(second).toMatchObject({
    items: [
      expect.objectContaining({
        slug: 'old',
        state: 'finished',
        externalId: null,
        deleted: { users: 1 },
      }),
    ],
    next: null,
  });
  expect(
    slugsOf((await listPurges(db, { limit: 2, before: null, name: 'org_new' })).items),
  ).toEqual(['renamed']);
  expect(slugsOf((await listPurges(db, { limit: 2, before: null, name: 'new' })).items)).toEqual(
    [],
  );
});

test('unsigned purges that can be stopped are listed in the order in which they are due', async () => {
  expect(slugsOf(await dueUnsignedPurges(db, 4))).toEqual(['renamed', 'later']);
  expect(slugsOf(await dueUnsignedPurges(db, 1))).toEqual(['renamed']);
});
