import type { Server } from 'node:http';

const idleCheckMs = 50;

/**
 * Sends `Connection: close` with every further answer, so that clients open their next
 * connection elsewhere.
 */
export function announceClosing(server: Server): void {
  server.prependListener('request', (_request, response) =>
    response.setHeader('Connection', 'close'),
  );
}

/**
 * Accepts no new connections and resolves when the running requests have been answered. Node closes
 * the connections that are idle at the call, but not those that become idle later, so idle
 * connections are closed repeatedly.
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
