import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  createTestDatabase,
  rounds,
  startFlowServer,
  startKapsoServer,
  until,
} from '@parley/testing';
import type { Command } from 'commander';
import pg from 'pg';
import { createProgram } from '../../cli/src/program';
import { installCommand } from './install-packages';
import { shared } from './stack';
import { startStandIns } from './stand-ins';
import { type Tenant, createTenant } from './tenant';
import { type ProgramResult, providerSettings, runFile, runInProcess } from './command-line';

/** The full run starts about 100 processes of a command of 9 MB. */
jest.setTimeout(rounds(120_000, 300_000));

let tenant: Tenant;
let reach: Record<string, string>;
const folder = mkdtempSync(join(tmpdir(), 'parley-packed-'));

beforeAll(async () => {
  tenant = await createTenant();
  reach = {
    ...providerSettings(),
    DATABASE_URL: shared.databaseUrl,
    REDIS_URL: shared.redisUrl,
    PARLEY_API_KEY: (await tenant.client({ permissions: ['*', 'manage'] })).key,
    PARLEY_PRODUCTION_API_KEY: (await tenant.client({ environment: 'production' })).key,
  };
  await installCommand(folder);
}, 240_000);
afterAll(async () => {
  await tenant.close();
  rmSync(folder, { recursive: true, force: true });
});

/** The command as npm installs it, which runs with the Node on the PATH. */
const bin = [join(folder, 'node_modules', '.bin', 'parley')];
/** The command with the Node of this run and a compile cache, as it starts about 100 times. */
const cached = [process.execPath, join(folder, 'node_modules', '@parley', 'cli', 'main.cjs')];

const parley = (
  args: string[],
  env: Record<string, string> = reach,
  [command, ...first] = cached,
  input = '',
): Promise<ProgramResult> =>
  runFile(
    command!,
    [...first, ...args],
    {
      cwd: folder,
      env: { PATH: process.env.PATH, NODE_COMPILE_CACHE: join(folder, 'compiled'), ...env },
    },
    input,
  );

/**
 * Runs each command once: in the process of the test, in the full run as the packed command. In the
 * process of a test `init` would pack the packages, as in a checkout.
 */
const runEach = (
  args: string[],
  env: Record<string, string>,
  input: string,
): Promise<ProgramResult> =>
  rounds(args[0] !== 'init', false)
    ? runInProcess(args, { cwd: folder, env, input })
    : parley(args, env, cached, input);

const leavesOf = (command: Command, path: string[] = []): { path: string[]; command: Command }[] =>
  command.commands
    .filter((one) => one.name() !== 'complete') // hidden; the shells' completion calls it
    .flatMap((one) => {
      const own = [...path, one.name()];
      return one.commands.length === 0 ? [{ path: own, command: one }] : leavesOf(one, own);
    });
const leaves = leavesOf(createProgram());

/**
 * Commands about the stack of npm start, which need a checkout. The tests in tools/start run them.
 */
const ofCheckout = ['clean', 'logs'];

/** Three at a time, as most of the time of a call is the start of Node. */
async function eachOf<T>(items: T[], work: (item: T) => Promise<void>): Promise<void> {
  const queue = items.values();
  await Promise.all(
    Array.from({ length: 3 }, async () => {
      for (const item of queue) await work(item);
    }),
  );
}

const jsonLines = (text: string): unknown[] =>
  text
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line));
test.each(ofCheckout)('%s fails outside of a checkout, with one line of JSON', async (name) => {
  const { code, stdout, stderr } = await parley([name, '--json'], {});
  expect([code, stdout]).toEqual([1, '']);
  expect(jsonLines(stderr)).toEqual([{ error: expect.stringContaining('Run it in a checkout') }]);
});

test('a wrong call of the packed command ends with status 2', async () => {
  expect(await parley(['keys', 'create'])).toMatchObject({ code: 2, stdout: '' });
});

test('every command that succeeds prints one line of JSON', async () => {
  const ran = new Set<string>();
  /**
   * Runs a command that must succeed with one line of JSON on stdout and nothing on stderr.
   * Returns its result.
   */
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- the result depends on the command
  async function run(name: string, args: string[] = [], env = reach, input = ''): Promise<any> {
    ran.add(name);
    const { code, stdout, stderr } = await runEach(
      [...name.split(' '), ...args, '--json'],
      env,
      input,
    );
    expect({ name, code, stderr }).toEqual({ name, code: 0, stderr: '' });
    const lines = jsonLines(stdout);
    expect({ name, lines }).toEqual({ name, lines: [expect.anything()] });
    return lines[0];
  }
  const org = ['--org', tenant.slug];

  await run('init', ['shop', '--no-install']);
  const later = {
    slug: 'later',
    name: 'Later',
    on: { entityType: 'order', action: 'created' },
    schedule: { delay: '1h' },
  };
  const action = { tool: 'entity.get', args: { id: '{{trigger.entityId}}' } };
  writeFileSync(
    join(folder, 'shop', 'triggers', 'later.json'),
    JSON.stringify({ ...later, actions: [action] }),
  );
  expect(await run('push', ['shop'])).toMatchObject({ version: 1 });
  await eachOf(
    [
      ['diff', 'shop'],
      ['status', 'shop'],
      ['pull', 'copy'],
      ['compile-prompt', 'assistant'],
      ['run-tool', 'entity.query', '{"type":"product"}'],
      ['doctor'],
      ['completion', 'bash'],
      ['tools list'],
      ['tools show', 'shop.discount'],
      ['types generate', '--out', 'types.d.ts'],
      ['deploy', 'shop', '--yes'],
    ],
    async ([name, ...args]) => void (await run(name!, args)),
  );

  await run('tool-secrets set', ['CARRIER_KEY', '-'], reach, 'key-of-the-carrier');
  await run('tool-secrets list');
  await run('tool-secrets delete', ['CARRIER_KEY']);

  const lamp = await run('data create', ['product', '{"name":"Lamp","price":12}']);
  writeFileSync(join(folder, 'more.csv'), 'name,price\nVase,3\n');
  await run('data import', ['product', 'more.csv']);
  await eachOf(
    [
      ['data get', 'product', lamp.id],
      ['data list', 'product'],
      ['data query', 'product', '{"data.price":12}'],
      ['data search', 'product', 'lamp'],
      ['data export', 'product', '--out', 'all.csv'],
      ['data update', 'product', lamp.id, '{"price":10}'],
    ],
    async ([name, ...args]) => void (await run(name!, args)),
  );
  await run('data delete', ['product', lamp.id]);

  const order = await run('data create', ['order', '{"product":"Lamp"}']);
  await run('fire', ['new-order', '--entity', order.id]);
  const fired = await run('triggers fire', ['new-order', '--entity', order.id]);
  await run('triggers show', [fired.result.runId, ...org]);
  let waiting: { id: string }[] = [];
  while (waiting.length === 0)
    waiting = (await run('triggers runs', ['later', '--status', 'scheduled', ...org])).data;
  await run('triggers cancel', [waiting[0]!.id, ...org]);
  await run('triggers retry', [waiting[0]!.id, ...org]);

  const { threadId } = await run('chat', ['assistant', 'Hello']);
  await run('threads takeover', [threadId, ...org]);
  await run('threads resume', [threadId, ...org]);
  const { data: executions } = await run('executions list', ['--thread', threadId, ...org]);
  await run('webhooks trigger', ['user.created']);
  const { data: deliveries } = await run('webhooks list', [
    '--unattributed',
    '--provider',
    'clerk',
    '--limit',
    '1',
  ]);
  const { key } = await run('keys create', [
    '--env',
    'development',
    '--permissions',
    'data',
    '--name',
    'n',
    ...org,
  ]);
  await run('threads reply', [threadId, 'A person answers.', ...org]);
  const site = ['--name', 'site', '--agent', 'assistant', '--origins', 'https://shop.example.com'];
  const { id: publishable } = await run('publishable-keys create', [...site, ...org]);
  await run('publishable-keys list', org);
  await run('publishable-keys revoke', [publishable, ...org]);
  for (const name of ['disable', 'enable']) await run(`triggers ${name}`, ['later', ...org]);
  const { link } = await run('members invite', ['--role', 'admin', ...org]);
  const email = `${tenant.slug}@example.com`;
  const accepted = await fetch(`${shared.url}/v1/invitations/accept`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Origin: shared.url },
    body: JSON.stringify({ token: link.split('/').at(-1), email, password: 'a long password' }),
  });
  expect(accepted.status).toBe(201);
  await run('members reset-password', [email]);
  await run('members release-email', [email]);
  const home = { ...reach, XDG_CONFIG_HOME: folder };
  await run('login', ['--key', '-', '--url', shared.url], home, reach.PARLEY_API_KEY);
  await run('logout', [], home);
  await eachOf(
    [
      ['threads list', ...org],
      ['threads show', threadId, ...org],
      ['executions show', executions[0].id, ...org],
      ['messages list', ...org],
      ['emails list', ...org],
      ['triggers list', ...org],
      ['events tail', '--once', '--last', '1', ...org],
      ['types list', ...org],
      ['webhooks show', deliveries[0].id, '--unattributed'],
      ['webhooks replay', deliveries[0].id, '--unattributed'],
      ['credits show', ...org],
      ['channels list', ...org],
      ['integrations list', ...org],
      ['keys list', ...org],
      ['audit', '--limit', '1', ...org],
      ['keys revoke', key.slice(0, 13), ...org],
      ['org create', '--slug', `${tenant.slug}-2`, '--name', 'Another'],
    ].map((words) => words.map(String)),
    async ([name, ...args]) => void (await run(name!, args)),
  );
  await run('keys rotate', [
    (
      await run('keys create', [
        '--env',
        'development',
        '--permissions',
        'data',
        '--name',
        'r',
        ...org,
      ])
    ).key.slice(0, 13),
    ...org,
  ]);
  await runSimulatedCommands(run, org);
  await runProviderCommands(run, org);

  const database = await createTestDatabase();
  try {
    const own = { ...reach, DATABASE_URL: database.url };
    for (const name of ['migrate', 'demo', 'org list', 'org purges', 'secrets rotate'])
      await run(name, [], own);
    await run('backup', ['demo.backup'], own);
    await run('restore', ['demo.backup', '--replace', '--yes'], own);
    await run('held list', [], own);
    for (const name of ['held release', 'held drop']) await run(name, ['--all'], own);
  } finally {
    await database.drop();
  }

  ran.add(await runDev());
  expect([...ran, ...ofCheckout].sort()).toEqual(leaves.map(({ path }) => path.join(' ')).sort());
});

/** Runs the commands that use the simulated providers of `npm start`. */
async function runSimulatedCommands(
  run: (name: string, args: string[], env: Record<string, string>) => Promise<unknown>,
  org: string[],
) {
  const standIns = await startStandIns(() => shared.url);
  const env = { ...reach, STAND_INS_URL: standIns.url };
  try {
    // The services of the shared stack have no STAND_INS_URL.
    const key = `offline-${tenant.organizationId}`;
    await run(
      'integrations set',
      ['kapso', '--api-key', key, '--api-url', `${standIns.url}/kapso`, ...org],
      env,
    );
    const number = '15550001111';
    await run(
      'channels connect',
      ['--agent', 'assistant', '--phone-number-id', number, ...org],
      env,
    );
    // PUBLIC_URL of the shared stack is no address of this machine.
    const webhooks = `${standIns.url}/kapso/platform/v1/whatsapp/phone_numbers/${number}/webhooks`;
    const headers = { 'X-API-Key': key, 'Content-Type': 'application/json' };
    const { data } = (await (await fetch(webhooks, { headers })).json()) as {
      data: Record<string, string>[];
    };
    const { id, secretKey, events } = data[0]!;
    const moved = { url: `${shared.url}/webhook/kapso/messages`, secret_key: secretKey, events };
    await fetch(webhooks, {
      method: 'POST',
      headers,
      body: JSON.stringify({ whatsapp_webhook: moved }),
    });
    await fetch(`${webhooks}/${id}`, { method: 'DELETE', headers });
    await run('whatsapp send', ['Hello', '--agent', 'assistant', '--no-wait', ...org], env);
    await run('whatsapp messages', org, env);
    await fetch(`${standIns.url}/resend/emails`, {
      method: 'POST',
      headers: { Authorization: `Bearer offline-${tenant.organizationId}` },
      body: JSON.stringify({
        from: 'a@example.com',
        to: 'b@example.com',
        subject: 'Hi',
        text: 'Hi',
      }),
    });
    await run('emails show', org, env);
  } finally {
    await standIns.stop();
  }
}

/** Runs the commands that use the WhatsApp intermediary or the payment provider, with stand-ins. */
async function runProviderCommands(
  run: (name: string, args: string[]) => Promise<{ result?: object }>,
  org: string[],
) {
  const account = { apiKey: 'flow-key', secretKey: 'flow-secret' };
  const [kapso, flow] = await Promise.all([startKapsoServer(), startFlowServer(account)]);
  try {
    await run('integrations set', [
      'kapso',
      '--api-key',
      kapso.apiKey,
      '--api-url',
      kapso.url,
      ...org,
    ]);
    await run('integrations test', ['kapso', ...org]);
    const number = String(Date.now());
    kapso.numbers[number] = '+56 9 1111 2222';
    await run('channels connect', ['--agent', 'assistant', '--phone-number-id', number, ...org]);
    const message = `msg_${number}`;
    await tenant.query(
      `insert into messages (id, tenant, environment, connection_id, direction, contact, type, text, payload, status, updated_at)
       select $1, tenant, environment, id, 'outbound', '5691', 'text', 'Hi', '{}', 'failed', now()
       from channel_connections where phone_number_id = $2`,
      [message, number],
    );
    await run('messages retry', [message, ...org]);
    await tenant.query(
      `insert into emails (id, tenant, environment, idempotency_key, "from", "to", subject, status, payload, updated_at)
       values ($1, $2, 'development', $1, 'a@example.com', '{b@example.com}', 'Hi', 'failed', '{}', now())`,
      [`email_${number}`, tenant.scope.tenant],
    );
    await run('emails retry', [`email_${number}`, ...org]);

    const keys = ['--api-key', account.apiKey, '--secret-key', account.secretKey];
    await run('integrations set', ['flow', ...keys, '--api-url', flow.url, ...org]);
    const wanted = { amount: 1000, description: 'A lamp', customerEmail: 'a@example.com' };
    const { result } = await run('run-tool', ['payment.create', JSON.stringify(wanted)]);
    await run('payments show', [(result as { paymentId: string }).paymentId, ...org]);
    await run('payments list', org);
    await run('payments reconcile', org);
    for (const name of ['disable', 'enable', 'remove'])
      await run(`integrations ${name}`, ['flow', ...org]);
  } finally {
    await Promise.all([kapso.stop(), flow.stop()]);
  }
}

async function runDev(): Promise<string> {
  const child = execFile(
    join(folder, 'node_modules', '.bin', 'parley'),
    ['dev', 'shop', '--json'],
    {
      cwd: folder,
      env: { PATH: process.env.PATH, ...reach },
    },
  );
  let [stdout, stderr] = ['', ''];
  child.stdout!.on('data', (text: string) => (stdout += text));
  child.stderr!.on('data', (text: string) => (stderr += text));
  await until(() => stdout.includes('\n') || child.exitCode !== null);
  child.kill('SIGINT');
  const code = await new Promise((ended) => child.once('exit', ended));
  expect([code, stderr, jsonLines(stdout)]).toEqual([
    0,
    '',
    [expect.objectContaining({ dryRun: false })],
  ]);
  return 'dev';
}

test('the packed command migrates an empty database schema', async () => {
  const empty = await createTestDatabase();
  try {
    const admin = new pg.Client({ connectionString: empty.url });
    await admin.connect();
    await admin.query('drop schema public cascade');
    await admin.query('create schema public');
    await admin.end();
    const own = { DATABASE_URL: empty.url };
    expect(await parley(['org', 'list'], own, bin)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('parley migrate'),
    });
    expect(await parley(['migrate'], own, bin)).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^Applied /),
    });
    expect(await parley(['migrate', '--check'], own, bin)).toMatchObject({ code: 0 });
    const { key } = JSON.parse((await parley(['demo'], own, bin)).stdout) as { key: string };
    expect(key).toMatch(/^sk_dev_/);
  } finally {
    await empty.drop();
  }
});
