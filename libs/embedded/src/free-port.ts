import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

/** Below the ports that systems give to connections going out: those come and go between the look and the use. */
const range = [12_000, 32_000] as const;
const tries = 20;

/** A TCP port on 127.0.0.1 that nobody listens on now: `preferred` when it is free, else any. */
export async function freePort(preferred?: number): Promise<number> {
  const wanted = preferred === undefined ? [] : [preferred];
  for (const port of [...wanted, ...Array.from({ length: tries }, () => randomInt(...range)), 0]) {
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
