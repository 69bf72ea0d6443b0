import { createServer } from 'node:net';

/** A TCP port on 127.0.0.1 that nobody listens on now: `preferred` when it is free, else one the system picks. */
export async function freePort(preferred = 0): Promise<number> {
  return (await tryListen(preferred)) ?? (await tryListen(0)) ?? preferred;
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
