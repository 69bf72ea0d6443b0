import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Db } from '@parley/db';
import { type TestRuntime, startRuntime } from '@parley/runtime/testing';
import { type ChatAppDeps, createChatApp } from './app';

export type ChatUnderTest = Awaited<ReturnType<typeof startChat>>;

interface Options extends Partial<ChatAppDeps> {
  db: Db;
  /** Variables of the runtime. */
  environment?: Record<string, string>;
  /** A runtime that several services share. Its owner closes it. */
  runtime?: TestRuntime;
}

/** The chat service on a port, with the domain behind it. */
export async function startChat({ environment, runtime: shared, ...options }: Options) {
  const runtime = shared ?? startRuntime(options.db, environment);
  const server = createServer(
    createChatApp({ ...runtime, checkResponses: true, ...options }),
  ).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    runtime,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close(): Promise<void> {
      server.closeAllConnections();
      server.close();
      if (shared === undefined) await runtime.close();
    },
  };
}
