import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

/**
 * Starts LangGraph's server from its installation folder, with ten workers as its own command does.
 */
const [folder = '', modelUrl = ''] = process.argv.slice(2);
// The first line of stdout must be the port, so the output of the server is sent to stderr.
const print = process.stdout.write.bind(process.stdout);
process.stdout.write = process.stderr.write.bind(process.stderr);
Object.assign(process.env, {
  BENCH_MODEL_URL: modelUrl,
  LOG_LEVEL: 'error',
  NODE_ENV: 'development',
});
process.chdir(folder);

interface Peer {
  startServer(options: object): Promise<unknown>;
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

async function main(): Promise<void> {
  const entry = join(folder, 'node_modules', '@langchain', 'langgraph-api', 'dist', 'server.mjs');
  const { startServer } = (await import(pathToFileURL(entry).href)) as Peer;
  const port = await freePort();
  const graphs = { agent: './agent.mjs:graph' };
  await startServer({ port, host: '127.0.0.1', nWorkers: 10, cwd: folder, graphs });
  print(`${port}\n`);
}

main().catch((error: unknown) => {
  console.error(error);
  process.exit(1);
});
