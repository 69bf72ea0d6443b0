import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';

/**
 * Starts Parse Server from its installation folder on the given database, configured
 * as in its manual.
 */
const [folder = '', databaseURI = '', applicationId = '', masterKey = ''] = process.argv.slice(2);
// The first line of stdout must be the port, so the output of Parse Server is sent to stderr.
const print = process.stdout.write.bind(process.stdout);
process.stdout.write = process.stderr.write.bind(process.stderr);
// Parse Server always writes a folder of logs to the current directory.
process.chdir(folder);
const load = createRequire(`${folder}/package.json`);
interface Parse {
  app: (request: unknown, response: unknown) => void;
  start(): Promise<unknown>;
}
const { ParseServer } = load('parse-server') as { ParseServer: new (options: object) => Parse };
const express = load('express') as () => { use(path: string, app: unknown): void };

async function main(): Promise<void> {
  const app = express();
  const server = createServer(app as never);
  // The connection is idle while other candidates are measured.
  server.keepAliveTimeout = 120_000;
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const parse = new ParseServer({
    databaseURI,
    appId: applicationId,
    masterKey,
    masterKeyIps: ['127.0.0.1', '::1', '::ffff:127.0.0.1'],
    serverURL: `http://127.0.0.1:${port}/parse`,
    allowClientClassCreation: true,
    logLevel: 'error',
    silent: true,
    verbose: false,
    logsFolder: null,
  });
  await parse.start();
  app.use('/parse', parse.app);
  print(`${port}\n`);
}

main().catch((error: unknown) => {
  console.error(error);
  process.exit(1);
});
