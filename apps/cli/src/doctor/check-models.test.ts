import { execFileSync } from 'node:child_process';
import { mkdirSync, statSync, writeFileSync } from 'node:fs';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createMetrics } from '@parley/service';
import { createInternalServer } from '../../../../libs/service/src/process/internal-server';
import { type Cli, openCli } from '../testing/run-command';

const secret = 'sk-test-0123456789abcdef';
const gatewayUrl = 'http://127.0.0.1:1';
let cli: Cli;
const servers: Server[] = [];

beforeAll(() => {
  cli = openCli();
});
afterAll(() => {
  for (const server of servers) server.close();
  cli.remove();
});

/** The internal server of a process with this configuration. */
async function start(config: object): Promise<number> {
  const readiness = { checks: { database: async () => {} }, isShuttingDown: () => false };
  const server = createInternalServer(createMetrics(`test-${servers.length}`), readiness, config);
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}

/** What doctor finds in a folder whose stack has these services. */
async function findings(services: Record<string, number>, env: Record<string, string> = {}) {
  mkdirSync(join(cli.folder, '.parley'), { recursive: true });
  const described = Object.entries(services).map(([name, internalPort]) => [
    name,
    { internalPort },
  ]);
  const stack = {
    gatewayUrl,
    databaseUrl: 'postgres://127.0.0.1:1/x',
    key: null,
    services: Object.fromEntries(described),
  };
  writeFileSync(join(cli.folder, '.parley', 'stack.json'), JSON.stringify(stack));
  const { stdout, stderr } = await cli.parley(['doctor', '--json'], { env });
  expect(stdout + stderr).not.toContain(secret);
  return (JSON.parse(stdout) as { findings: { name: string; state: string; detail: string }[] })
    .findings;
}
const of = (found: Awaited<ReturnType<typeof findings>>, name: string) =>
  found.filter((one) => one.name.startsWith(name));

test('models are what the services were started with, whatever this shell has', async () => {
  const chat = await start({
    OPENAI_API_KEY: secret,
    OLLAMA_BASE_URL: undefined,
    ANTHROPIC_API_KEY: '',
    TRUSTED: [],
  });
  const worker = await start({ DATABASE_URL: secret });
  const found = await findings({ chat, worker }, { GOOGLE_API_KEY: secret });
  expect(of(found, 'Model providers')).toMatchObject([
    { state: 'ok', detail: 'chat has OPENAI_API_KEY' },
    { state: 'warning', detail: expect.stringMatching(/^worker has none/) },
  ]);
  expect(of(found, 'Service')).toMatchObject([
    { name: 'Service chat', state: 'ok', detail: `ready, Node.js ${process.versions.node}` },
    { name: 'Service worker', state: 'ok' },
  ]);
});

test('the settings of a process are names without values', async () => {
  const port = await start({ SECRETS_KEY: secret, PORT: 4001 });
  const text = await (await fetch(`http://127.0.0.1:${port}/settings`)).text();
  expect(JSON.parse(text)).toEqual({
    settings: ['PORT', 'SECRETS_KEY'],
    node: process.versions.node,
    nowMs: expect.any(Number),
  });
});

test('of another stack nothing is claimed', async () => {
  const chat = await start({ OPENAI_API_KEY: secret });
  const found = await findings(
    { chat },
    { PARLEY_URL: 'http://127.0.0.1:2', OPENAI_API_KEY: secret },
  );
  expect(of(found, 'Model providers')).toMatchObject([
    { state: 'skipped', detail: expect.stringContaining('npm start') },
  ]);
  expect(of(found, 'Service')).toEqual([]);
});

test('--bundle writes findings and logs that tar can read, without a secret, an address or a number', async () => {
  const logs = join(cli.folder, '.parley', 'logs');
  mkdirSync(logs, { recursive: true });
  const apiKey = 'value-of-a-variable';
  const line = {
    level: 30,
    time: '2026-09-01T12:00:00.123Z',
    msg: 'sent',
    to: '+56 9 1234 5678',
    mail: 'ana@shop.example',
    key: apiKey,
  };
  const others = `Bearer abc.def sk_dev_0123456789abcdef postgres://u:p4ss@host/x 56912345678 ${secret}`;
  writeFileSync(join(logs, 'chat.log'), `${JSON.stringify({ ...line, others })}\n`);
  writeFileSync(
    join(cli.folder, '.parley', 'secrets.json'),
    JSON.stringify({ SECRETS_KEY: 'stored-key-value' }),
  );
  writeFileSync(join(cli.folder, 'token'), 'token-of-a-file\n');
  writeFileSync(join(logs, 'worker.log'), 'stored-key-value token-of-a-file old-part\n');
  const file = join(cli.folder, 'bundle.tar.gz');
  await cli.parley(['doctor', '--bundle', file], {
    env: {
      OTHER_API_KEY: apiKey,
      DATABASE_URL: 'postgres://u:hidden-word@127.0.0.1:1/x',
      EXECUTOR_TOKEN_FILE: join(cli.folder, 'token'),
      SECRETS_KEY: 'new-part, old-part',
    },
  });
  expect(statSync(file).mode & 0o777).toBe(0o600);
  const names = execFileSync('tar', ['-tzf', file]).toString().trim().split('\n').sort();
  expect(names).toEqual(['doctor.json', 'logs/chat.log', 'logs/worker.log', 'versions.json']);
  const text = execFileSync('tar', ['-xzOf', file]).toString();
  for (const hidden of [
    apiKey,
    secret,
    'stored-key-value',
    'token-of-a-file',
    'old-part',
    'hidden-word',
    'p4ss',
    'abc.def',
    '0123456789abcdef',
    '12345678',
    '1234 5678',
    'ana@',
  ])
    expect([hidden, text.includes(hidden)]).toEqual([hidden, false]);
  for (const kept of ['2026-09-01T12:00:00.123Z', 'Node.js', '"msg":"sent"'])
    expect(text).toContain(kept);
});
