import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { startStack } from '@parley/testing';
import { startChild } from '../child';
import { load, machine, measureInTurns, ms, report, summarize, table } from '../measure';
import { createOrganization } from '../organization';
import { type RawRequest, openClient } from '../raw-client';

const requests: Record<string, RawRequest> = {
  'GET, 1 KiB back': { path: '/v1/data/order' },
  'POST 200 B, 1 KiB back': {
    method: 'POST',
    path: '/v1/data/order',
    body: JSON.stringify({ data: 'x'.repeat(189) }),
  },
};
/** Turns of 1,000 calls for each target. For a quick run: node tools/bench.mjs gateway 2 */
const rounds = Number(process.argv[2] ?? 10);
const headers = {
  Authorization: `Bearer sk_dev_${'A'.repeat(43)}`,
  Accept: 'application/json',
  'User-Agent': 'bench',
};

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
  execFileSync('npm', [
    'install',
    '--silent',
    '--no-fund',
    '--no-audit',
    '--prefix',
    peerFolder,
    'http-proxy@1.18.1',
  ]);
  const peer = await startChild(join(__dirname, 'peer-child.cjs'), [peerFolder, service.url]);
  const nginx = await startChild(join(__dirname, 'nginx-child.cjs'), [
    join(folder, 'nginx'),
    service.url,
  ]);
  const stack = await startStack({
    databaseUrl: DATABASE_URL,
    redisUrl: REDIS_URL,
    bundles,
    services: ['gateway'],
    environment: { DATA_URL: service.url, NODE_ENV: 'production' },
  });
  const targets = {
    directly: service.url,
    gateway: stack.url,
    'http-proxy': peer.url,
    nginx: nginx.url,
  };
  console.log(`${where}\n\nOne caller, ${rounds} turns of 1,000 calls each\n`);
  const rows: (string | number)[][] = [];
  for (const [name, request] of Object.entries(requests))
    rows.push(...(await compare(name, request, targets)));
  rows.push(
    ...(await compareRealService({ bundles, databaseUrl: DATABASE_URL, redisUrl: REDIS_URL })),
  );
  console.log(
    table(
      ['request', 'through', 'p10 ms', 'p50 ms', 'p95 ms', 'p99 ms', 'added p10', 'added p50'],
      rows,
    ),
  );

  const loadRows: (string | number)[][] = [];
  const perSecondOf: Record<string, number> = {};
  const request = requests['GET, 1 KiB back']!;
  for (const [target, url] of Object.entries(targets)) {
    const clients = await Promise.all(
      Array.from({ length: 32 }, () => openClient(url, { ...request, headers })),
    );
    await load(32, 1_000, (index) => clients[index]!.call);
    const { perSecond, samples } = await load(32, 4_000, (index) => clients[index]!.call);
    const { p50, p99 } = summarize(samples);
    loadRows.push([target, Math.round(perSecond), ms(p50), ms(p99)]);
    perSecondOf[target] = perSecond;
    for (const client of clients) client.close();
  }
  console.log(`\n32 callers without a pause, 4 s\n`);
  console.log(table(['through', 'requests/s', 'p50 ms', 'p99 ms'], loadRows));
  report(
    'gateway: requests/s ÷ http-proxy',
    perSecondOf.gateway! / perSecondOf['http-proxy']!,
    '×',
    { atLeast: 1.3 },
  );

  await stack.stop();
  await Promise.all([peer.stop(), nginx.stop(), service.stop()]);
  process.exit(0);
}

/**
 * Sends the same request to each target in turns. The first target is the baseline of
 * the added times.
 */
async function compare(
  name: string,
  request: RawRequest,
  targets: Record<string, string>,
): Promise<string[][]> {
  const calls: Record<string, () => Promise<number>> = {};
  for (const [target, url] of Object.entries(targets)) {
    const client = await openClient(url, {
      ...request,
      headers: { ...headers, ...request.headers },
    });
    if ((await client.call()) !== 200) throw new Error(`${target} does not answer 200`);
    calls[target] = () => client.call();
  }
  const samples = Object.entries(await measureInTurns(calls, { rounds, perRound: 1_000 }));
  const direct = summarize(samples[0]![1]);
  const addedBy = (target: string) =>
    summarize(samples.find(([one]) => one === target)![1]).p50 - direct.p50;
  if (name === 'GET, 1 KiB back') {
    report('gateway: added to a GET at p50', addedBy('gateway') * 1_000, 'µs', {
      atMost: 150,
      target: 100,
    });
    report("gateway: added ÷ nginx's addition", addedBy('gateway') / addedBy('nginx'), '×', {
      atMost: 1.5,
    });
  }
  return samples.map(([target, ofTarget]) => {
    const { p10, p50, p95, p99 } = summarize(ofTarget);
    const added = (value: number) => `${Math.round(value * 1000)} µs`;
    return [
      name,
      target,
      ms(p10),
      ms(p50),
      ms(p95),
      ms(p99),
      added(p10 - direct.p10),
      added(p50 - direct.p50),
    ];
  });
}

/** Measures the read of an entity by its id, with the key check and both rate limits. */
async function compareRealService(options: {
  bundles: string;
  databaseUrl: string;
  redisUrl: string;
}): Promise<string[][]> {
  const stack = await startStack({
    ...options,
    services: ['data', 'gateway'],
    environment: {
      NODE_ENV: 'production',
      RATE_LIMIT_PER_KEY: '10000000',
      RATE_LIMIT_PER_ORGANIZATION: '10000000',
    },
  });
  const type = { slug: 'product', name: 'Product', schema: { name: 'string' } };
  const { key, post } = await createOrganization(options.databaseUrl, stack.url, {
    entityTypes: [type],
  });
  const { id } = await post('/v1/data/product', { data: { name: 'x'.repeat(800) } });
  const request = {
    path: `/v1/data/product/${id as string}`,
    headers: { Authorization: `Bearer ${key}` },
  };
  const rows = await compare('GET an entity of 1 KiB', request, {
    directly: stack.services.data!.url,
    gateway: stack.url,
  });
  await stack.stop();
  return rows;
}

main().catch((error: unknown) => {
  console.error(error);
  process.exit(1);
});
