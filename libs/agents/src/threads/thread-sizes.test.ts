import type { JsonObject } from '@parley/contracts';
import { type Db, createDb } from '@parley/db';
import { type SeededOrganization, openTestDatabase, seedOrganization } from '@parley/testing';
import { readThread } from './read-threads';
import { createTurnStore } from './turn-store';

let db: Db;
let org: SeededOrganization;
beforeAll(async () => {
  db = await openTestDatabase(createDb);
});
afterAll(() => db.close());
beforeEach(async () => {
  org = await seedOrganization(db.pool, { agents: [{ slug: 'helper' }] });
});

const name = 'order-7';
const begin = (params: JsonObject = {}, message = 'Hello') =>
  createTurnStore(db, 'test').begin(org.scope, {
    agent: { slug: 'helper' },
    externalThreadId: name,
    channel: 'api',
    message,
    params,
    isChecked: true,
  });

/** Begins a turn after all others of the thread have ended. */
async function next(params?: JsonObject, message?: string) {
  await db.pool.query(`update executions set status = 'succeeded' where tenant = $1`, [
    org.scope.tenant,
  ]);
  const begun = await begin(params, message);
  if (!begun.ok || begun.turn === null) throw new Error(JSON.stringify(begun));
  return begun.turn;
}

const paramsOf = async () => (await readThread(db, org.scope, name))!.params;

test('the params of a thread have at most 64 KiB together, whatever each message adds', async () => {
  const text = 'x'.repeat(25_000);
  await next({ a: text, b: 1 });
  await next({ c: text });
  expect(await begin({ d: text })).toEqual({
    ok: false,
    reason: 'invalid_params',
    problems: [
      {
        path: 'threadContext.params',
        message: 'would have more than 65536 bytes of JSON with those of the thread',
      },
    ],
  });
  expect(Object.keys(await paramsOf()).sort()).toEqual(['a', 'b', 'c']);
  await next({ a: 'short', d: text });
  expect(await paramsOf()).toMatchObject({ a: 'short', d: text });
});

test('a thread whose params were larger before is continued with them, or without any', async () => {
  await next();
  await db.pool.query(
    `update threads set params = jsonb_build_object('old', repeat('x', 100000), 'n', 1) where tenant = $1`,
    [org.scope.tenant],
  );
  await next();
  await next({ n: 1 });
  expect(await begin({ n: 2 })).toMatchObject({ ok: false, reason: 'invalid_params' });
});

test('the name of a contact is stored with 200 characters', async () => {
  await next({ contactName: '😀'.repeat(250), note: 'a' });
  expect(await paramsOf()).toEqual({ contactName: '😀'.repeat(200), note: 'a' });
  await next({ contactName: 'Ana' });
  expect((await readThread(db, org.scope, name))!.contactName).toBe('Ana');
});

test('the history of a turn has at most 2 MiB, of the newest messages', async () => {
  await next({}, `first ${'x'.repeat(5_000_000)}`);
  for (let n = 0; n < 4; n += 1) await next({}, `${n} ${'y'.repeat(600_000)}`);
  const { history } = await next({}, 'last');
  expect(history.map(([, , content]) => content[0])).toEqual(['1', '2', '3']);
});
