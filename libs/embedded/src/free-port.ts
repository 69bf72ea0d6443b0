import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

/** Below the ports that systems use for outgoing connections, which could take a port between the check and its use. */
const range = [12_000, 32_000] as const;
const maxAttempts = 20;

/** Returns a free TCP port on 127.0.0.1: `preferred` when it is free, otherwise another one. */
export async function freePort(preferred?: number): Promise<number> {
  const first = preferred === undefined ? [] : [preferred];
  for (const port of [...first, ...Array.from({ length: maxAttempts }, () => randomInt(...range)), 0]) {
    const bound = await tryListen(port);
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
