import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

/**
 * Below the ports that systems use for outgoing connections, which could take a port between the
 * check and its use.
 */
const lowestPort = 12_000;
/**
 * Processes with different ids mostly use different ranges, in order, so stacks that start together
 * choose different ports.
 */
const [rangeSize, ranges] = [200, 100];
const maxAttempts = 50;
let turn = randomInt(rangeSize);
const nextPort = (): number =>
  lowestPort + (process.pid % ranges) * rangeSize + (turn++ % rangeSize);

/** Returns a free TCP port on 127.0.0.1: `preferred` when it is free, otherwise another one. */
export async function freePort(preferred?: number): Promise<number> {
  let bound = preferred === undefined ? null : await tryListen(preferred);
  for (let attempt = 0; bound === null && attempt < maxAttempts; attempt += 1)
    bound = await tryListen(nextPort());
  bound ??= await tryListen(0);
  if (bound === null) throw new Error('No port is free on 127.0.0.1');
  return bound;
}

function tryListen(port: number): Promise<number | null> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(null));
    server.listen(port, '127.0.0.1', () => {
      const address = server.address();
      const bound = typeof address === 'object' && address ? address.port : null;
      server.close(() => resolve(bound));
    });
  });
}
