import type { Server } from 'node:http';

const idleCheckMs = 50;

/** From now on every answer ends its connection, so that clients come back through another one. */
export function announceClosing(server: Server): void {
  server.prependListener('request', (_request, response) => response.setHeader('Connection', 'close'));
}

/**
 * Lets running requests end and takes no new connections. Answers given from now on end their connections; Node closes
 * idle ones once, when asked, but not those that become idle later, so they are asked for again.
 */
export function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    announceClosing(server);
    const timer = setInterval(() => server.closeIdleConnections(), idleCheckMs);
    server.close(() => {
      clearInterval(timer);
      resolve();
    });
    server.closeIdleConnections();
  });
}
