import { runTriggerChaos } from '@parley/testing';
import { root } from './install-packages';
import { shared } from './stack';

/** Small here; `node tools/bench.mjs triggers chaos` runs the full size: 10,000 changes, 20 kills and a pause of 90 s. */
test('each change has exactly one effect when workers, Redis and PostgreSQL are killed, Redis is flushed and a worker is paused for longer than its lease', async () => {
  const changes = Number(process.env.PARLEY_CHAOS_CHANGES ?? 400);
  const result = await runTriggerChaos({
    bundles: shared.bundles,
    changes,
    kills: Number(process.env.PARLEY_CHAOS_KILLS ?? 4),
    flush: true,
    pauseMs: 4_000,
    leaseMs: 1_000,
    root,
  });
  expect(result.acknowledged).toBeGreaterThanOrEqual(changes);
  expect(result.committed).toBeGreaterThanOrEqual(result.acknowledged);
  expect(result).toMatchObject({ lost: 0, doubled: 0, disordered: 0, runs: { succeeded: result.committed } });
}, 400_000);
