import type { Queryable } from '@parley/db';
import { createTestDatabase, until } from '@parley/testing';
import { type Entities, createEntities } from './create-entities';
import { setFollowedChanges } from './entity-types';
import { type TestEntities, here, origin, startEntities } from './testing/start-entities';
import { ensureType } from './write/ensure-type';

let t: TestEntities;
let entities: Entities;
let rings = 0;
beforeAll(async () => {
  t = await startEntities(await createTestDatabase());
  entities = createEntities({ db: t.db, wakeRelay: () => void (rings += 1) });
});
beforeEach(() => void (rings = 0));
afterAll(async () => {
  await entities.settled();
  await t.stop();
});

const follow = (type: string, actions: string[], tx: Queryable = t.db) =>
  setFollowedChanges(
    tx,
    here,
    actions.map((action) => ({ entityType: type, action, keys: [] })),
  );
const create = async (
  type: string,
  { hops = 0, tx }: { hops?: number; tx?: Queryable } = {},
): Promise<string> => {
  const created = await entities.create(here, { ...origin, hops, type, data: {} }, tx);
  if (!created.ok) throw new Error(created.reason);
  return created.entity.value.id;
};
const update = async (type: string, id: string, tx?: Queryable) =>
  expect(await entities.update(here, { ...origin, type, id, data: { n: 1 } }, tx)).toMatchObject({
    ok: true,
  });
/** The actions of a type's events that wait for the relay, and of those that do not. */
const eventsOf = async (type: string) => {
  const { rows } = await t.db.pool.query<{ action: string; waits: boolean }>(
    `select substr(type, 8) as action, relayed_at is null as waits from events where entity_type = $1 order by id`,
    [type],
  );
  const actions = (waiting: boolean) =>
    rows.filter(({ waits }) => waits === waiting).map(({ action }) => action);
  return { waiting: actions(true), done: actions(false) };
};
/** Resolves when this number of connections of the database wait for a lock. */
const blocked = (count = 1) =>
  until(
    async () => {
      const { rows } = await t.db.pool.query(
        `select count(*)::int as count from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
      );
      return rows[0].count >= count;
    },
    { everyMs: 5 },
  );

test('events wait for the relay and wake it if their action has a trigger and the chain of triggers has not ended', async () => {
  for (const type of ['order', 'plain']) await t.createType(type);
  await follow('order', ['created', 'deleted']);
  for (const type of ['order', 'plain']) {
    const id = await create(type);
    await update(type, id);
    await entities.remove(here, { ...origin, type, id });
    await entities.remove(here, { ...origin, type, id });
    await entities.update(here, { ...origin, type, id, status: 'active' });
    await create(type, { hops: 5 });
    await create(type, { hops: 6 });
  }
  expect(await eventsOf('order')).toEqual({
    waiting: ['created', 'deleted', 'created'],
    done: ['updated', 'updated', 'created'],
  });
  expect((await eventsOf('plain')).waiting).toEqual([]);
  expect(rings).toBe(3);
});

test('a change in a transaction wakes the relay after the commit, and not after a rollback', async () => {
  await t.createType('grouped');
  await follow('grouped', ['created', 'updated']);
  await t.db.transaction(async (tx) => {
    const id = await create('grouped', { tx });
    await update('grouped', id, tx);
    expect(rings).toBe(0);
  });
  expect(rings).toBe(2);
  const undone = t.db.transaction(async (tx) => {
    await create('grouped', { tx });
    throw new Error('no');
  });
  await expect(undone).rejects.toThrow('no');
  expect(rings).toBe(2);
});

test('only the types of the environment whose actions change are written', async () => {
  const inProduction = { ...here, environment: 'production' as const };
  for (const scope of [here, inProduction]) await t.createType('shared', { scope });
  const stored = async () =>
    (
      await t.db.pool.query(
        `select relayed_actions as actions, xmin from entity_types where slug = 'shared' order by environment`,
      )
    ).rows;
  await follow('shared', ['updated', 'created', 'updated']);
  const before = await stored();
  expect(before.map(({ actions }) => actions)).toEqual([['created', 'updated'], []]);
  await follow('shared', ['created', 'updated']);
  expect(await stored()).toEqual(before);
  await follow('other', ['created']);
  expect((await stored()).map(({ actions }) => actions)).toEqual([[], []]);
});

test('all events of a type that ensureType creates wait, because triggers may exist before the type', async () => {
  await ensureType(t.db, here, { slug: 'ensured', name: 'Ensured', schema: {}, searchFields: [] });
  const id = await create('ensured');
  await update('ensured', id);
  await entities.remove(here, { ...origin, type: 'ensured', id });
  expect(await eventsOf('ensured')).toEqual({
    waiting: ['created', 'updated', 'deleted'],
    done: [],
  });
});

describe('a trigger that is added while an entity is written', () => {
  test.each(['created', 'updated'])(
    'waits for running writes; only entities %s afterwards start it',
    async (action) => {
      const type = `late-${action}`;
      await t.createType(type);
      const id = await create(type);
      const write = (tx?: Queryable) =>
        action === 'created' ? create(type, { tx }) : update(type, id, tx);
      let added: Promise<unknown> | undefined;
      await t.db.transaction(async (tx) => {
        await write(tx);
        added = follow(type, [action]);
        await blocked();
      });
      await added;
      expect((await eventsOf(type)).waiting).toEqual([]);
      await write();
      expect((await eventsOf(type)).waiting).toEqual([action]);
      expect(rings).toBe(1);
    },
  );

  test.each(['created', 'updated'])(
    'blocks writes until it is committed or rolled back: %s',
    async (action) => {
      const type = `held-${action}`;
      await t.createType(type);
      const id = await create(type);
      const write = () => (action === 'created' ? create(type) : update(type, id));
      const during = async (end: 'commit' | 'rollback', actions: string[]) => {
        let written: Promise<unknown> | undefined;
        const change = t.db.transaction(async (tx) => {
          await follow(type, actions, tx);
          written = write();
          await blocked();
          if (end === 'rollback') throw new Error('undone');
        });
        await change.catch(() => {});
        await written;
      };
      await during('rollback', [action]);
      expect((await eventsOf(type)).waiting).toEqual([]);
      await during('commit', [action]);
      expect((await eventsOf(type)).waiting).toEqual([action]);
      await during('commit', []);
      expect((await eventsOf(type)).waiting).toEqual([action]);
      expect(rings).toBe(1);
    },
  );
});
