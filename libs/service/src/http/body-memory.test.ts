import { once } from 'node:events';
import { type Server, createServer, request as httpRequest } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Caller } from '@parley/contracts';
import { until } from '@parley/testing';
import { z } from 'zod';
import { silentLogger } from '../process/logger';
import { createBodyMemory } from './body-memory';
import { createApp } from './create-app';
import { route } from './route';

const mebibyte = 1024 * 1024;
/** A text whose body is just below the limit. */
const large = 14 * mebibyte - 100;
const callerOf = (tenant: number): Caller => ({
  type: 'api_key',
  id: `k${tenant}`,
  name: 'k',
  organizationId: `o${tenant}`,
  tenant,
  environment: 'development',
  permissions: new Set(['*']),
  role: null,
});

/** The organizations whose requests are being handled, and the functions that answer them. */
let handled: { tenant: number; answer: () => void }[];
let server: Server;
beforeEach(async () => {
  handled = [];
  const app = createApp({
    log: silentLogger(),
    checkResponses: true,
    identify: async ({ headers }) =>
      callerOf(Number(headers.authorization!.slice('Bearer '.length))),
    bodyMemory: createBodyMemory({ LARGE_BODIES_MIB: 48 }),
    routes: [
      route(
        {
          method: 'post',
          path: '/v1/a',
          permission: 'data',
          bodyLimitBytes: 14 * mebibyte,
          body: z.object({ file: z.string() }),
          response: z.unknown(),
        },
        (_input, { scope: { tenant } }) =>
          new Promise((resolve) => handled.push({ tenant, answer: () => resolve({ tenant }) })),
      ),
    ],
  });
  server = createServer(app).listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterEach(() => {
  server.closeAllConnections();
  server.close();
});

const post = async (tenant: number, size: number) => {
  const response = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/a`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${tenant}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ file: 'x'.repeat(size) }),
  });
  return response.status;
};
const untilHandled = (count: number) =>
  until(async () => handled.length, { isThere: (now) => now === count });
const tenants = () => handled.map(({ tenant }) => tenant).sort();

test('large bodies of an organization are handled two at a time, while small ones and those of others are handled', async () => {
  const many = Array.from({ length: 6 }, () => post(1, large));
  await untilHandled(2);
  const others = [post(1, 1_000), post(2, large)];
  await untilHandled(4);
  expect(tenants()).toEqual([1, 1, 1, 2]);
  // The others wait, and none is refused.
  for (let answered = 0; answered < 8; answered += 1) {
    await until(async () => handled[answered], { isThere: Boolean });
    expect(handled.length - answered).toBeLessThanOrEqual(4);
    handled[answered]!.answer();
  }
  expect(await Promise.all([...many, ...others])).toEqual(Array(8).fill(200));
});

test('a body that is too large, and a client that disconnects while it waits, occupy nothing', async () => {
  expect(await post(1, 15 * mebibyte)).toBe(413);
  const first = [post(1, large), post(1, large)];
  await untilHandled(2);
  const { port } = server.address() as AddressInfo;
  const headers = { Authorization: 'Bearer 1', 'Content-Length': 14 * mebibyte };
  const waiting = httpRequest({ port, path: '/v1/a', method: 'POST', headers });
  waiting.on('error', () => {}).write('{');
  await once(server, 'request');
  waiting.destroy();
  for (const { answer } of handled) answer();
  expect(await Promise.all(first)).toEqual([200, 200]);
  const next = [post(1, large), post(1, large)];
  await untilHandled(4);
  for (const { answer } of handled) answer();
  expect(await Promise.all(next)).toEqual([200, 200]);
});
