import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { startCollectorServer } from '@parley/testing';
import { shared } from './stack';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'parley-signals-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

const environment = {
  PATH: process.env.PATH,
  DATABASE_URL: 'postgresql://parley@127.0.0.1:1/parley',
  REDIS_URL: 'redis://127.0.0.1:1',
  SECRETS_KEY: Buffer.alloc(32).toString('base64'),
  EXECUTOR_TOKEN: 'the-token-of-a-process-that-waits',
  PUBLIC_URL: 'http://localhost:4000',
  HOST: '127.0.0.1',
  PORT: '0',
  INTERNAL_PORT: '0',
};

/**
 * The code and the signal that ended the process. A signal means that there was no listener: as
 * process 1 the process would continue.
 */
async function end(
  app: string,
  options: { preload?: string; args?: string[]; whenPrinted?: string },
) {
  const preload = options.preload ? ['--require', options.preload] : [];
  const child = spawn(
    process.execPath,
    [...preload, join(shared.bundles, app, 'main.cjs'), ...(options.args ?? [])],
    {
      env: environment,
    },
  );
  let printed = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      printed += text;
      if (options.whenPrinted && printed.includes(options.whenPrinted)) child.kill('SIGTERM');
    });
  const [code, signal] = await once(child, 'exit');
  return [code, signal];
}

const waiting = ['migrate', '--wait', '600'];
const apps = [
  'gateway',
  'data',
  'chat',
  'manage',
  'webhook-ingest',
  'tool-executor',
  'worker',
  'cli',
];

it.each(apps)('%s ends on a SIGTERM that arrives while it loads its code', async (app) => {
  const preload = join(folder, 'send-signal.cjs');
  writeFileSync(
    preload,
    `const { Module } = require('node:module');
     const load = Module._load;
     Module._load = function (name, parent, isMain) {
       // The bundle asks for its first module after its first line.
       if (!isMain) (Module._load = load), process.kill(process.pid, 'SIGTERM');
       return load.call(this, name, parent, isMain);
     };`,
  );
  const [code, signal] = await end(app, { preload, args: app === 'cli' ? waiting : [] });
  expect(signal).toBe(null);
  // 0: the signal was handled when the service had already started.
  expect([143, 0]).toContain(code);
});

it.each([
  ['a service', 'worker', [], 'waiting for a dependency'],
  ['parley migrate --wait', 'cli', waiting, 'Waiting: '],
])('%s that waits for PostgreSQL ends on SIGTERM', async (_name, app, args, whenPrinted) => {
  expect(await end(app, { args, whenPrinted })).toEqual([143, null]);
});

it('a service whose collector does not answer sends its last spans to it, and ends on SIGTERM', async () => {
  const collector = await startCollectorServer();
  collector.play(() => new Promise(() => {}));
  const child = spawn(process.execPath, [join(shared.bundles, 'gateway', 'main.cjs')], {
    env: { ...environment, OTEL_EXPORTER_OTLP_ENDPOINT: collector.url },
  });
  const ended = once(child, 'exit');
  for await (const line of createInterface({ input: child.stdout })) {
    const { msg, port } = JSON.parse(line) as { msg: string; port?: number };
    if (msg !== 'listening') continue;
    expect((await fetch(`http://127.0.0.1:${port}/health`)).status).toBe(200);
    child.kill('SIGTERM');
  }
  expect(await ended).toEqual([0, null]);
  expect(collector.requests.flatMap(({ spans }) => spans.map(({ name }) => name))).toEqual(['GET']);
  await collector.stop();
});
