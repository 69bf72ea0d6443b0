import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { startStack } from '@parley/testing';
import { startChild } from '../child';
import { load, machine, measureInTurns, ms, summarize, table } from '../measure';
import { type RawRequest, openClient } from '../raw-client';

const requests: Record<string, RawRequest> = {
  'GET, 1 KiB back': { path: '/v1/data/order' },
  'POST 200 B, 1 KiB back': { method: 'POST', path: '/v1/data/order', body: JSON.stringify({ data: 'x'.repeat(189) }) },
};
const headers = { Authorization: `Bearer sk_dev_${'A'.repeat(43)}`, Accept: 'application/json', 'User-Agent': 'bench' };

async function main(): Promise<void> {
  const {
    PARLEY_BENCH_BUNDLES: bundles = '',
    PARLEY_BENCH_FOLDER: folder = '',
    DATABASE_URL = '',
    REDIS_URL = '',
  } = process.env;
  const where = machine();
  const service = await startChild(join(__dirname, 'service-child.cjs'));
  const peerFolder = join(folder, 'peer');
  execFileSync('npm', ['install', '--silent', '--no-fund', '--no-audit', '--prefix', peerFolder, 'http-proxy@1.18.1']);
  const peer = await startChild(join(__dirname, 'peer-child.cjs'), [peerFolder, service.url]);
  const stack = await startStack({
    databaseUrl: DATABASE_URL,
    redisUrl: REDIS_URL,
    bundles,
    services: ['gateway'],
    environment: { DATA_URL: service.url, NODE_ENV: 'production', LOG_LEVEL: process.env.BENCH_LOG_LEVEL ?? 'info' },
  });
  const doors = { directly: service.url, gateway: stack.url, 'http-proxy': peer.url };
  console.log(`${where}\n`);

  const rows: (string | number)[][] = [];
  for (const [name, request] of Object.entries(requests)) {
    const calls: Record<string, () => Promise<number>> = {};
    for (const [door, url] of Object.entries(doors)) {
      const client = await openClient(url, { ...request, headers });
      if ((await client.call()) !== 200) throw new Error(`${door} does not answer 200`);
      calls[door] = () => client.call();
    }
    const samples = await measureInTurns(calls, { rounds: 10, perRound: 1_000 });
    const direct = summarize(samples.directly!);
    for (const [door, ofDoor] of Object.entries(samples)) {
      const { p50, p95, p99 } = summarize(ofDoor);
      rows.push([name, door, ms(p50), ms(p95), ms(p99), `${Math.round((p50 - direct.p50) * 1000)} µs`]);
    }
  }
  console.log(`One caller, 10,000 calls each, in turns of 1,000\n`);
  console.log(table(['request', 'through', 'p50 ms', 'p95 ms', 'p99 ms', 'added p50'], rows));

  const loadRows: (string | number)[][] = [];
  const request = requests['GET, 1 KiB back']!;
  for (const [door, url] of Object.entries(doors)) {
    const clients = await Promise.all(Array.from({ length: 32 }, () => openClient(url, { ...request, headers })));
    await load(32, 1_000, (index) => clients[index]!.call);
    const { perSecond, samples } = await load(32, 4_000, (index) => clients[index]!.call);
    const { p50, p99 } = summarize(samples);
    loadRows.push([door, Math.round(perSecond), ms(p50), ms(p99)]);
    for (const client of clients) client.close();
  }
  console.log(`\n32 callers without a pause, 4 s\n`);
  console.log(table(['through', 'requests/s', 'p50 ms', 'p99 ms'], loadRows));

  await stack.stop();
  await Promise.all([peer.stop(), service.stop()]);
  process.exit(0);
}

main().catch((error: unknown) => {
  console.error(error);
  process.exit(1);
});
