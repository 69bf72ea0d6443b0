import { type ServiceName, rounds } from '@parley/testing';
import { type LoadedReplicas, expectEachEffectOnce, startLoadedReplicas } from './load';
import type { Tenant } from './tenant';

const kinds: ServiceName[] = [
  'data',
  'chat',
  'webhook-ingest',
  'tool-executor',
  'manage',
  'gateway',
  'worker',
];
/**
 * Restarts one after the other, in the full run. By default the first processes of all services restart at the same time, then the
 * second ones.
 */
const inTurn = rounds(0, 20);
const restarts = inTurn || 2 * kinds.length;

let loaded: LoadedReplicas;
beforeAll(async () => {
  loaded = await startLoadedReplicas();
}, 120_000);
afterAll(() => loaded?.close(), 60_000);

it(
  'restarts under load lose no request and no job, and turns of one thread do not overlap on two replicas',
  async () => {
    const { replicas, tenant } = loaded;
    const { threadId, stop } = await loaded.startLoad();
    const startedAt = Date.now();
    const codes: (number | null)[] = [];
    let ended: Awaited<ReturnType<typeof stop>>;
    try {
      for (let at = 0; at < inTurn; at += 1)
        codes.push(
          await replicas.restart(kinds[at % kinds.length]!, Math.floor(at / kinds.length) % 2),
        );
      for (let replica = 0; inTurn === 0 && replica < 2; replica += 1)
        codes.push(...(await allOf(kinds.map((name) => replicas.restart(name, replica)))));
    } finally {
      ended = await stop();
    }
    const { answered, failures, made } = ended;
    const seconds = (Date.now() - startedAt) / 1_000;

    expect(failures).toEqual([]);
    expect(codes).toEqual(Array(restarts).fill(0));
    // Enough requests to show that there was load during all restarts.
    expect(answered).toBeGreaterThan(5 * restarts);
    await expectEachEffectOnce(tenant, made);
    await expectTurnsInOrder(tenant, threadId);
    if (inTurn > 0)
      console.log(
        JSON.stringify({ restarts, answered, seconds, ...made, failed: failures.length }),
      );
  },
  240_000 + inTurn * 30_000,
);

/** Waits for all promises even if one rejects, so that every process that was started can be stopped. */
async function allOf<T>(work: Promise<T>[]): Promise<T[]> {
  await Promise.allSettled(work);
  return Promise.all(work);
}

/** Expects that turns were answered in the order of their arrival, each after the one before, on either replica. */
async function expectTurnsInOrder(tenant: Tenant, threadId: string): Promise<void> {
  const messages = await tenant.query(
    'select role::text, created_at from thread_messages where thread_id = $1 order by execution_id, position',
    [threadId],
  );
  expect(messages.length).toBeGreaterThan(4);
  const roles = messages.map(({ role }) => role);
  expect(roles).toEqual(roles.map((_, at) => (at % 2 === 0 ? 'user' : 'assistant')));
  const answeredAt = messages
    .filter(({ role }) => role === 'assistant')
    .map((row) => Number(row.created_at));
  expect(answeredAt).toEqual([...answeredAt].sort((a, b) => a - b));
}
