import { type AddressInfo, type Server, type Socket, connect, createServer } from 'node:net';

export interface TcpProxy {
  /** The address of the target as a URL, with the proxy's host and port. */
  url: string;
  /** Closes all connections and refuses new ones. */
  cut(): Promise<void>;
  /** Accepts connections again, on the same port. */
  open(): Promise<void>;
  /** Leads new connections to another server. */
  aim(target: string): void;
  /**
   * Stops forwarding without closing anything, like a network that drops packets or a target
   * that is stopped.
   */
  freeze(): void;
  thaw(): void;
}

/**
 * Starts a proxy in front of a server such as PostgreSQL or Redis, whose connections can
 * be cut or frozen.
 */
export async function startTcpProxy(target: string): Promise<TcpProxy> {
  let aimedAt = new URL(target);
  const pairs = new Set<[Socket, Socket]>();
  let isFrozen = false;
  let server: Server;
  let ownPort = 0;

  const join = ([near, far]: [Socket, Socket]) => void near.pipe(far).pipe(near);

  async function open(): Promise<void> {
    server = createServer((near) => {
      const far = connect({ host: aimedAt.hostname, port: Number(aimedAt.port) });
      const pair: [Socket, Socket] = [near, far];
      pairs.add(pair);
      for (const socket of pair)
        socket
          .on('error', () => {})
          .on('close', () => {
            near.destroy();
            far.destroy();
            pairs.delete(pair);
          });
      if (!isFrozen) join(pair);
    });
    await new Promise<void>((resolve) => server.listen(ownPort, '127.0.0.1', resolve));
    ownPort = (server.address() as AddressInfo).port;
  }

  await open();
  return {
    url: Object.assign(new URL(target), { hostname: '127.0.0.1', port: String(ownPort) }).href,
    open,
    aim: (other) => void (aimedAt = new URL(other)),
    async cut() {
      for (const pair of pairs) for (const socket of pair) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
    freeze() {
      isFrozen = true;
      for (const [near, far] of pairs) {
        near.unpipe(far);
        far.unpipe(near);
      }
    },
    thaw() {
      isFrozen = false;
      pairs.forEach(join);
    },
  };
}
