import { once } from 'node:events';
import { type AddressInfo, type Server, type Socket, connect, createServer } from 'node:net';

/**
 * A TCP load balancer, like a Service of Kubernetes: each new connection goes to the next process.
 */
export interface Balancer {
  url: string;
  /** Adds a target for new connections. */
  add(url: string): void;
  /** Removes a target. Its open connections stay. */
  remove(url: string): void;
  close(): Promise<void>;
}

export async function startBalancer(): Promise<Balancer> {
  const targets: string[] = [];
  const open = new Set<Socket>();
  let turn = 0;
  const server: Server = createServer((client) => {
    const target = targets[turn++ % Math.max(1, targets.length)];
    if (target === undefined) return client.destroy();
    const upstream = connect(Number(new URL(target).port), '127.0.0.1');
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      open.add(from);
      from.setNoDelay(true);
      from.pipe(to);
      from.on('error', () => to.destroy());
      from.on('close', () => {
        open.delete(from);
        to.destroy();
      });
    }
    return undefined;
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    add: (url) => void targets.push(url),
    remove: (url) => void targets.splice(targets.indexOf(url), 1),
    async close() {
      for (const socket of open) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
