import { randomBytes } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { type Server, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { operationsOf } from '@parley/contracts';
import { type Db, createDb, createSecretBox } from '@parley/db';
import { createEntities } from '@parley/entities';
import { createIdentify } from '@parley/identity';
import { createApp, serve, silentLogger } from '@parley/service';
import { openTestDatabase, seedOrganization } from '@parley/testing';
import { createToolSecretHandlers } from '../../manage/src/routes/tool-secrets';
import { createDataApp } from '../../data/src/app';
import { type Cli, openCli } from './testing/run-command';

let db: Db & { url: string };
let cli: Cli;
let server: Server;
let env: Record<string, string>;
const keys = [randomBytes(32).toString('base64'), randomBytes(32).toString('base64')];

beforeAll(async () => {
  cli = openCli();
  db = await openTestDatabase(createDb);
  const log = silentLogger();
  const data = createDataApp({
    db,
    entities: createEntities({ db }),
    log,
    checkResponses: true,
    requestReindexing: () => {},
  });
  const secrets = createApp({
    log,
    checkResponses: true,
    identify: createIdentify(db),
    routes: serve(
      operationsOf.toolSecrets,
      createToolSecretHandlers({ db, box: createSecretBox(keys[0]!) }),
    ),
  });
  // Like the gateway, which forwards these paths to manage.
  server = createServer((request, response) =>
    (request.url!.startsWith('/v1/tool-secrets') ? secrets : data)(request, response),
  ).listen(0, '127.0.0.1');
  await new Promise((listening) => server.once('listening', listening));
  const { key } = await seedOrganization(db.pool, { permissions: ['sync'] });
  env = {
    PARLEY_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    PARLEY_API_KEY: key,
  };
});
afterAll(async () => {
  server.close();
  await db.close();
  cli.remove();
});

const value = 'ck_live_9f2c';
const run = (args: string[], input?: string) =>
  cli.parley(['tool-secrets', ...args], { env, input });

it('sets, lists and deletes a secret; the value comes from standard input', async () => {
  expect(await run(['set', 'CARRIER_KEY', '-'], `${value}\n`)).toEqual({
    exitCode: 0,
    stdout: 'Set CARRIER_KEY. Every call of a tool from now on uses it.\n',
    stderr: '',
  });
  const listed = await run(['list']);
  expect(listed.stdout).toMatch(/^NAME +SET +TOOLS\nCARRIER_KEY  \d{4}-.* -\n$/);
  expect(JSON.parse((await run(['list', '--json'])).stdout)).toEqual({
    secrets: [{ name: 'CARRIER_KEY', setAt: expect.any(Number), tools: [] }],
  });
  expect(await run(['delete', 'CARRIER_KEY'])).toMatchObject({
    exitCode: 0,
    stdout: 'Deleted CARRIER_KEY.\n',
  });
  expect(await run(['delete', 'CARRIER_KEY'])).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining('No secret CARRIER_KEY is set in development'),
  });
  expect(await run(['list'])).toMatchObject({
    exitCode: 0,
    stdout: '',
    stderr: expect.stringContaining('No secrets are set'),
  });
});

it.each([
  [
    ['set', 'CARRIER_KEY', value],
    2,
    'A secret is not accepted as an argument. Pass it on standard input: printf',
  ],
  [['set', 'CARRIER_KEY', '-', value], 2, 'too many arguments'],
  [['set', 'CARRIER_KEY'], 2, 'Cannot ask for the value without a terminal'],
  [['set', 'CARRIER_KEY', '-'], 2, 'Standard input has no value'],
  [['set', 'carrier key', '-'], 1, 'must be 1 to 64 capital letters'],
  [['delete', '../sync/state'], 1, ''],
])('%j fails with status %d, without repeating the value', async (args, code, text) => {
  const input = text.startsWith('must') ? value : '';
  const done = await run(args, input);
  expect([done.exitCode, done.stdout]).toEqual([code, '']);
  expect(done.stderr).toContain(text);
  expect(done.stderr).not.toContain(value);
});

it('names the secrets that a pushed tool needs and that are not set', async () => {
  mkdirSync(join(cli.folder, 'shop', 'tools'), { recursive: true });
  const tool = (
    name: string,
    secrets: string,
  ) => `{ name: '${name}', description: 'x', parameters: { type: 'object' },
    secrets: ${secrets}, handler(args, context) { return context.secrets.CARRIER_KEY.length } }`;
  const file = join(cli.folder, 'shop', 'tools', 'ship.ts');
  writeFileSync(
    file,
    `import { defineTools } from '@parley/definitions'; export default defineTools([${tool('a.old', '[]')}]);`,
  );
  await cli.parley(['push', 'shop'], { env }); // the pushes below compare it with the folder
  writeFileSync(
    file,
    `import { defineTools } from '@parley/definitions';
     export default defineTools([${tool('a.ship', "['CARRIER_KEY', 'CARRIER_URL']")}, ${tool('a.track', "['CARRIER_KEY']")}]);`,
  );
  await run(['set', 'CARRIER_URL', '-'], 'http://carrier');
  const push = (...more: string[]) => cli.parley(['push', 'shop', ...more], { env });
  const warning =
    'warning: the secret CARRIER_KEY of a.ship, a.track is not set: parley tool-secrets set CARRIER_KEY -';
  for (const more of [['--dry-run'], [], []]) {
    const pushed = await push(...more);
    expect([
      pushed.exitCode,
      pushed.stderr.split('\n').filter((line) => line.startsWith('warning')),
    ]).toEqual([0, [warning]]);
  }
  await run(['set', 'CARRIER_KEY', '-'], value);
  expect((await push()).stderr).not.toContain('warning');
  // A pull has the names and no values.
  await cli.succeed(['pull', 'copy'], { env });
  const listed = JSON.parse((await run(['list', '--json'])).stdout) as { secrets: object[] };
  expect(listed.secrets).toMatchObject([
    { name: 'CARRIER_KEY', tools: ['a.ship', 'a.track'] },
    { name: 'CARRIER_URL', tools: ['a.ship'] },
  ]);
});

it('secrets rotate and doctor include the secrets of tools', async () => {
  await run(['set', 'ROTATED', '-'], value);
  const database = { DATABASE_URL: db.url };
  const rotated = { ...database, SECRETS_KEY: `${keys[1]},${keys[0]}` };
  expect(await cli.succeed(['secrets', 'rotate'], { env: rotated })).toMatch(
    /^Re-encrypted [1-9]\d* secrets?\.$/,
  );
  expect(await cli.succeed(['secrets', 'rotate'], { env: rotated })).toBe(
    'Re-encrypted 0 secrets.',
  );
  const doctor = await cli.parley(['doctor'], { env: { ...database, SECRETS_KEY: keys[0]! } });
  expect(doctor.stdout).toMatch(
    /SECRETS_KEY.*cannot decrypt \d+ of \d+ stored secrets: .*tool secret ROTATED in development of org_/,
  );
});
