import { type RequestListener, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createGuardedFetch } from '@parley/outbound';
import { createManageApp } from '../../../manage/src/app';
import { createTestApi } from '../../../manage/src/testing/create-test-api';

/**
 * A stack for commands that use the HTTP API: the management service on a port, with a database of
 * its own, and `others` for the paths that they serve, like the gateway. Commands get its address
 * and a key, and no DATABASE_URL.
 */
export async function startManage(
  others: (db: Db) => Record<string, RequestListener> = () => ({}),
) {
  const guard = createGuardedFetch({ allowedPrivateHosts: ['127.0.0.1'] });
  const api = await createTestApi({ guards: { mcp: guard, providers: guard } });
  const manage = createManageApp(api.deps);
  const prefixes = Object.entries(others(api.db));
  const server = createServer((request, response) => {
    const other = prefixes.find(([prefix]) => request.url!.startsWith(prefix));
    (other?.[1] ?? manage)(request, response);
  }).listen(0, '127.0.0.1');
  await new Promise((listening) => server.once('listening', listening));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    api,
    db: api.db,
    databaseUrl: api.url,
    url,
    /** The environment variables of a command with this key. */
    envOf: (key: string) => ({ PARLEY_URL: url, PARLEY_API_KEY: key }),
    async close(): Promise<void> {
      server.closeAllConnections();
      server.close();
      await guard.close();
      await api.close();
    },
  };
}

type Db = Awaited<ReturnType<typeof createTestApi>>['db'];
export type ManageUnderTest = Awaited<ReturnType<typeof startManage>>;
