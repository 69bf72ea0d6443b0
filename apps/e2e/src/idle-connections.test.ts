import { type Socket, connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { rounds } from '@parley/testing';
import { catalog } from './catalog';
import { type Client, push } from './client';
import { startOwnStack } from './stack';
import { type Tenant, createTenant } from './tenant';

/** The full run needs `ulimit -n` above 10,500. */
const wanted = rounds(1_000, 10_000);
const asked = rounds(20, 200);

let stack: Awaited<ReturnType<typeof startOwnStack>>;
let tenant: Tenant;
let client: Client;
const sockets: Socket[] = [];
let drip: NodeJS.Timeout | undefined;
beforeAll(async () => {
  stack = await startOwnStack({
    services: ['data', 'gateway'],
    environment: {
      RATE_LIMIT_PER_KEY: '100000',
      RATE_LIMIT_PER_ORGANIZATION: '100000',
      // Else the gateway would close the slow connections, which floods.test.ts shows.
      SLOW_BODIES_PER_ADDRESS: '100000',
      BODY_GRACE_MS: '600000',
    },
  });
  tenant = await createTenant(stack);
  client = await tenant.client();
  await push(client, catalog);
});
afterAll(async () => {
  clearInterval(drip);
  for (const socket of sockets) socket.destroy();
  await tenant?.close();
  await stack?.stop();
});

let closed = 0;

/** Opens a connection and sends `text`; with `answer`, waits for a response. */
function open(text: string, answer: boolean): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(Number(new URL(stack.url).port), '127.0.0.1');
    socket.once('error', reject);
    socket.once('close', () => (closed += 1));
    socket.once('connect', () => {
      socket.write(text);
      if (!answer) resolve(socket);
    });
    socket.on('data', () => resolve(socket));
  });
}

async function openMany(count: number, text: string, answer: boolean): Promise<Socket[]> {
  const opened: Socket[] = [];
  while (opened.length < count) {
    const batch = Math.min(100, count - opened.length);
    opened.push(...(await Promise.all(Array.from({ length: batch }, () => open(text, answer)))));
  }
  sockets.push(...opened);
  return opened;
}

async function residentBytes(): Promise<number> {
  const text = await (await fetch(`${stack.services.gateway!.internalUrl}/metrics`)).text();
  return Number(/^process_resident_memory_bytes\S* (\S+)$/m.exec(text)?.[1]);
}

/** Sends requests one after the other. Returns their durations in milliseconds, sorted. */
async function ask(): Promise<number[]> {
  const times: number[] = [];
  for (let at = 0; at < asked; at += 1) {
    const startedAt = performance.now();
    const { status } = await client.get('/v1/data/product?limit=1');
    expect(status).toBe(200);
    times.push(performance.now() - startedAt);
  }
  return times.sort((a, b) => a - b);
}

const median = (sorted: number[]) => Math.round(sorted[sorted.length >> 1]! * 100) / 100;

it(`answers while ${wanted} connections are idle or send slowly, and after they are closed`, async () => {
  const before = await ask();
  const atFirst = await residentBytes();
  // More than the connections of the gateway to a service: a body that arrives slowly
  // must not occupy one.
  const slowCount = Math.round(wanted * 0.6);
  await openMany(wanted - slowCount, 'GET /health HTTP/1.1\r\nHost: a\r\n\r\n', true);
  const slow = await openMany(
    slowCount,
    'POST /v1/data/product HTTP/1.1\r\nHost: a\r\nContent-Length: 10000\r\n\r\n',
    false,
  );
  drip = setInterval(() => slow.forEach((socket) => socket.write('x')), 4_000);

  // wall clock: connections are idle for a time.
  await sleep(2_000);
  const during = await ask();
  expect({ open: sockets.filter(({ destroyed }) => !destroyed).length, closed }).toEqual({
    open: wanted,
    closed: 0,
  });
  const atLast = await residentBytes();

  clearInterval(drip);
  for (const socket of sockets) socket.destroy();
  const after = await ask();
  if (!rounds(false, true)) return;
  process.stderr.write(
    JSON.stringify({
      connections: wanted,
      slowBodies: slowCount,
      p50Ms: { before: median(before), during: median(during), after: median(after) },
      residentMB: { before: Math.round(atFirst / 1e6), during: Math.round(atLast / 1e6) },
      bytesEach: Math.round((atLast - atFirst) / wanted),
    }),
  );
}, 180_000);
