import { execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { runTriggerChaos } from '@parley/testing';

const root = resolve(__dirname, '../../..');
const bundles = join(root, 'dist', `chaos-test-${process.pid}`);

beforeAll(() => {
  const script = `
    import { build } from 'esbuild';
    import { buildOptions } from ${JSON.stringify(join(root, 'tools', 'build.mjs'))};
    await build({ ...buildOptions(['data', 'worker']), outdir: ${JSON.stringify(bundles)} });`;
  execFileSync(process.execPath, ['--input-type=module', '-e', script, 'build'], { cwd: root });
}, 60_000);
afterAll(() => rmSync(bundles, { recursive: true, force: true }));

/** The full size runs with `node tools/bench.mjs triggers`: 10,000 changes, 20 kills, 90 s. */
test('workers, Redis and PostgreSQL killed, Redis flushed, a worker stopped past its lease: each change has its one effect', async () => {
  const changes = Number(process.env.PARLEY_CHAOS_CHANGES ?? 400);
  const kills = Number(process.env.PARLEY_CHAOS_KILLS ?? 4);
  const result = await runTriggerChaos({
    bundles,
    changes,
    kills,
    flush: true,
    pauseMs: 4_000,
    leaseMs: 1_000,
    root,
  });
  expect(result.acknowledged).toBeGreaterThanOrEqual(changes);
  expect(result.committed).toBeGreaterThanOrEqual(result.acknowledged);
  expect(result).toMatchObject({ lost: 0, doubled: 0, disordered: 0, runs: { succeeded: result.committed } });
}, 400_000);
