import { execFile, execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { rounds } from '@parley/testing';
import type { KillReport } from './kill-run';

// Five kills include each process.
const kills = rounds(5, 50);
const root = resolve(__dirname, '../../../..');
const bundles = join(root, 'dist', `webhook-kills-${process.pid}`);
const folder = mkdtempSync(join(tmpdir(), 'parley-kills-'));

jest.setTimeout(300_000 + kills * 60_000);

beforeAll(() => {
  const child = join(__dirname, 'kill-child.ts');
  const script = `
    import { build } from 'esbuild';
    import { buildOptions } from ${JSON.stringify(join(root, 'tools', 'build.mjs'))};
    const outdir = ${JSON.stringify(bundles)};
    await build({ ...buildOptions(['webhook-ingest', 'worker']), outdir });
    await build({ ...buildOptions([]), outdir, entryPoints: { 'kill-child': ${JSON.stringify(child)} } });`;
  execFileSync(process.execPath, ['--input-type=module', '-e', script, 'build'], { cwd: root });
});
afterAll(() => {
  for (const path of [bundles, folder]) rmSync(path, { recursive: true, force: true });
});

test('acknowledged deliveries are applied exactly once while processes are killed', async () => {
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [join(bundles, 'kill-child.cjs'), String(kills), '40', bundles, folder],
    { cwd: root },
  );
  const { orders, messages, problems } = JSON.parse(stdout) as KillReport;
  expect({ orders, messages, problems }).toEqual({
    orders: {
      acknowledged: orders.acknowledged,
      applied: orders.acknowledged,
      doubled: 0,
      centsMissing: 0,
    },
    messages: {
      acknowledged: messages.acknowledged,
      stored: messages.acknowledged,
      answered: messages.acknowledged,
      sent: messages.acknowledged,
    },
    problems: [],
  });
  expect(orders.acknowledged).toBeGreaterThan(0);
});
