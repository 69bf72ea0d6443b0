import type { ServiceName } from '@parley/testing';
import {
  type LoadedReplicas,
  expectEachEffectOnce,
  expectTurnsInOrder,
  startLoadedReplicas,
} from '../load';
import { behindBalancer } from '../replicas';

const kinds: ServiceName[] = [...behindBalancer, 'worker'];
/**
 * Restarts one after the other. upgrade.test.ts restarts the first processes of all services at the
 * same time, then the second ones.
 */
const restarts = 20;

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
      for (let at = 0; at < restarts; at += 1)
        codes.push(
          await replicas.restart(kinds[at % kinds.length]!, Math.floor(at / kinds.length) % 2),
        );
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
    console.log(JSON.stringify({ restarts, answered, seconds, ...made, failed: failures.length }));
  },
  240_000 + restarts * 30_000,
);
