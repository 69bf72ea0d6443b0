import { createServer } from 'node:http';
import { mkdtempSync, rmSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { silentLogger } from '@parley/service';
/* eslint-disable @nx/enforce-module-boundaries -- tests run the app in their process */
import { createStandIns } from '../../stand-ins/src/app';
import { openStore } from '../../stand-ins/src/store';
/* eslint-enable @nx/enforce-module-boundaries */
import { shared } from './stack';

export interface RunningStandIns {
  url: string;
  stop(): Promise<void>;
}

/**
 * Starts the stand-ins of development in this process. `gatewayUrl` is read when a
 * setup page is used.
 */
export async function startStandIns(gatewayUrl: () => string): Promise<RunningStandIns> {
  const folder = mkdtempSync(join(tmpdir(), 'parley-stand-ins-'));
  const server = createServer((request, response) => app(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://localhost:${(server.address() as AddressInfo).port}`;
  const app = createStandIns({
    store: openStore(folder),
    address: url,
    get gatewayUrl() {
      return gatewayUrl();
    },
    projectSecret: shared.webhookSecrets.MESSAGING_WEBHOOK_SECRET,
    log: silentLogger(),
  });
  return {
    url,
    async stop() {
      await new Promise((done) => {
        server.closeAllConnections();
        server.close(done);
      });
      rmSync(folder, { recursive: true });
    },
  };
}
