import { rounds, runTriggerChaos } from '@parley/testing';
import { root } from './install-packages';
import { shared } from './stack';

/** `node tools/bench.mjs triggers chaos` also pauses a worker for 90 s. */
test(
  'each change has exactly one effect when workers, Redis and PostgreSQL are killed, Redis is flushed and a worker is paused for longer than its lease',
  async () => {
    const changes = rounds(150, 10_000);
    const result = await runTriggerChaos({
      bundles: shared.bundles,
      changes,
      kills: rounds(4, 20),
      flush: true,
      pauseMs: 4_000,
      leaseMs: 1_000,
      root,
    });
    expect(result.acknowledged).toBeGreaterThanOrEqual(changes);
    expect(result.committed).toBeGreaterThanOrEqual(result.acknowledged);
    expect(result).toMatchObject({
      lost: 0,
      doubled: 0,
      disordered: 0,
      runs: { succeeded: result.committed },
    });
  },
  rounds(400_000, 1_800_000),
);
