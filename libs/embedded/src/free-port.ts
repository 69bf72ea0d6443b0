import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

/**
 * Below the ports that systems use for outgoing connections, which could take a port between the check and its use. Each process
 * has ports of its own, in turns, so that two that start services at the same time do not choose the same one.
 */
const [lowest, perProcess, slices] = [12_000, 200, 100];
const maxAttempts = 100;
let turn = randomInt(perProcess);
const nextPort = (): number => lowest + (process.pid % slices) * perProcess + (turn++ % perProcess);

/** Returns a free TCP port on 127.0.0.1: `preferred` when it is free, otherwise another one. */
export async function freePort(preferred?: number): Promise<number> {
  for (let attempt = 0; attempt < maxAttempts; attempt += 1) {
    const bound = await tryListen(attempt === 0 && preferred !== undefined ? preferred : nextPort());
    if (bound !== null) return bound;
  }
  throw new Error('No port is free on 127.0.0.1');
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
