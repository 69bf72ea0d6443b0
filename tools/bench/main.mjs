import { spawn } from 'node:child_process';
import { existsSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { buildConsole } from '../build-console.mjs';
import { build, buildOptions } from '../build.mjs';
import { loadEmbedded, loadMigrate } from '../start/load-typescript.mjs';
import { Problem, runMain, print, step } from '../start/output.mjs';
import { root } from '../start/paths.mjs';
import { runAll } from './all.mjs';
import { record } from './record.mjs';
import { comparison } from './results.mjs';

const benches = join(root, 'apps', 'bench', 'src');
const outdir = join(root, 'dist', 'bench');

/**
 * `node tools/bench/main.mjs <name> [arguments of the benchmark]`, `… all [names]`, or with files of
 * `all`: `… compare A[,A] B`, `… record A`.
 */
await runMain(async () => {
  const [name, ...rest] = process.argv.slice(2);
  if (name === 'all') return runAll(runBench, rest);
  if (name === 'compare') return compare(rest);
  if (name === 'record') return recordRun(rest);
  return runBench(name, rest);
});

function compare(args) {
  if (args.length !== 2)
    throw new Problem('Usage: node tools/bench.mjs compare BEFORE.json[,BEFORE.json] AFTER.json');
  const [before, [after]] = args.map((files) =>
    files.split(',').map((file) => JSON.parse(readFileSync(file, 'utf8'))),
  );
  print(comparison(before, after));
}

function recordRun(args) {
  if (args.length !== 1) throw new Problem('Usage: node tools/bench.mjs record RESULTS.json');
  record(JSON.parse(readFileSync(args[0], 'utf8')));
}

/** Runs one benchmark. PostgreSQL is durable (fsync), as in production. */
async function runBench(name, args, env = {}) {
  const known = readdirSync(benches).filter((folder) =>
    existsSync(join(benches, folder, 'main.ts')),
  );
  if (!known.includes(name))
    throw new Problem(
      `Unknown benchmark: ${name ?? '(none)'}. Available: ${known.join(', ')}, all, compare, record.`,
    );
  await step('Building', async () => {
    await build(undefined, { outdir });
    await buildBench(name);
    if (name === 'console') await buildConsole(join(outdir, 'gateway', 'console'));
  });
  const embedded = await loadEmbedded();
  embedded.sweepTemporaryFolders();
  const folder = embedded.makeTemporaryFolder('bench');
  const servers = [];
  try {
    await step('Starting PostgreSQL and Redis', async () => {
      servers.push(await embedded.startPostgres({ dataDir: join(folder, 'postgres') }));
      servers.push(await embedded.startRedis({ ephemeral: true, log: print }));
      const { migrate } = await loadMigrate();
      await migrate({
        databaseUrl: servers[0].url,
        migrationsDir: join(root, 'prisma', 'migrations'),
      });
    });
    const [postgres, redis] = servers;
    return await run(join(outdir, 'bench', name, 'main.cjs'), args, {
      DATABASE_URL: postgres.url,
      REDIS_URL: redis.url,
      PARLEY_BENCH_BUNDLES: outdir,
      PARLEY_BENCH_FOLDER: folder,
      ...env,
    });
  } finally {
    await Promise.all(servers.map((server) => server.stop()));
    rmSync(embedded.reachableDataDir(join(folder, 'postgres')), { recursive: true, force: true });
    rmSync(folder, { recursive: true, force: true });
  }
}

async function buildBench(name) {
  const esbuild = await import('esbuild');
  const files = readdirSync(join(benches, name)).filter(
    (file) => file === 'main.ts' || file.endsWith('-child.ts'),
  );
  const entries = files.map((file) => [
    `bench/${name}/${file.slice(0, -'.ts'.length)}`,
    join(benches, name, file),
  ]);
  await esbuild.build({
    ...buildOptions([], { outdir }),
    entryPoints: Object.fromEntries(entries),
  });
}

function run(file, args, env) {
  const child = spawn(process.execPath, ['--enable-source-maps', file, ...args], {
    cwd: root,
    env: { ...process.env, ...env },
    stdio: 'inherit',
  });
  const stop = (signal) => child.kill(signal);
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, stop);
  process.channel?.unref();
  return new Promise((resolve) =>
    child.once('exit', (code) => {
      for (const signal of ['SIGINT', 'SIGTERM']) process.off(signal, stop);
      resolve(code ?? 1);
    }),
  );
}
