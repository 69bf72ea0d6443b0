import { registerOutdated } from '@parley/channels';
import { type Db, saveIntegration } from '@parley/db';
import { type KapsoServer, seedOrganization, startKapsoServer } from '@parley/testing';
import { type Cli, openCli } from './testing/run-command';
import { type ManageUnderTest, startManage } from './testing/manage-under-test';

let stack: ManageUnderTest;
let db: Db;
let cli: Cli;
let kapso: KapsoServer;
/** Without DATABASE_URL: the commands use the API. */
let env: Record<string, string>;
let rival: Record<string, string>;

beforeAll(async () => {
  cli = openCli();
  stack = await startManage();
  ({ db } = stack);
  kapso = await startKapsoServer();
  const agents = [{ slug: 'helper' }, { slug: 'seller' }];
  const entityTypes = ['customer', 'lead'].map((slug) => ({ slug, name: slug, schema: {} }));
  const settings = { config: { apiUrl: kapso.url }, secrets: { apiKey: kapso.apiKey } };
  const envOf = async (slug: string, types: typeof entityTypes) => {
    const organization = { slug, agents, entityTypes: types, permissions: ['manage' as const] };
    const { key, scope } = await seedOrganization(db.pool, organization);
    await saveIntegration(db, stack.api.deps.box, scope, { provider: 'kapso', ...settings });
    return stack.envOf(key);
  };
  env = await envOf('shop', entityTypes);
  rival = await envOf('rival', []);
});
afterAll(async () => {
  await kapso.stop();
  await stack.close();
  cli.remove();
});

test('connecting a number again returns the same connection, and other agents and organizations are refused', async () => {
  const connect = (agent: string, as = env) =>
    cli.parley(
      ['channels', 'connect', '--agent', agent, '--phone-number-id', '109876543210987', '--json'],
      {
        env: as,
      },
    );
  const first = await connect('helper');
  expect(first).toMatchObject({ exitCode: 0 });
  const again = await connect('helper');
  expect(JSON.parse(again.stdout)).toEqual(JSON.parse(first.stdout));
  const { id: connectionId } = JSON.parse(first.stdout).channel as { id: string };
  expect(await connect('seller')).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining(
      `already has the connection ${connectionId}, which agent helper answers`,
    ),
  });
  expect(await connect('helper', rival)).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining('is connected to another organization or environment'),
  });
  const { rows } = await db.pool.query('select id, status from channel_connections');
  expect(rows).toEqual([{ id: connectionId, status: 'connected' }]);
});

test('--contact-type is stored, listed, changed by connecting again, and must name an existing type', async () => {
  const org = ['--org', 'shop', '--json'];
  const connect = (phoneNumberId: string, ...more: string[]) =>
    cli.parley(
      [
        'channels',
        'connect',
        '--agent',
        'helper',
        '--phone-number-id',
        phoneNumberId,
        ...more,
        ...org,
      ],
      {
        env,
      },
    );
  const types = async () => {
    const { data } = JSON.parse(
      (await cli.parley(['channels', 'list', ...org], { env })).stdout,
    ) as {
      data: { contactType: string | null }[];
    };
    return data.map(({ contactType }) => contactType);
  };
  expect(await types()).toEqual([null]);
  const connected = '109876543210987';
  expect(await connect(connected, '--contact-type', 'customer')).toMatchObject({ exitCode: 0 });
  expect(await types()).toEqual(['customer']);
  expect(await connect(connected)).toMatchObject({ exitCode: 0 });
  expect(await types()).toEqual(['customer']);
  expect(await connect(connected, '--contact-type', 'lead')).toMatchObject({ exitCode: 0 });
  expect(await types()).toEqual(['lead']);
  for (const unknown of ['custommer', 'customer ', '\u{1f600}', "';--"])
    expect(await connect(connected, '--contact-type', unknown)).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining(
        JSON.stringify(`There is no entity type "${unknown}" in this environment`).slice(1, -1),
      ),
    });
  expect(await types()).toEqual(['lead']);
  // Only another organization has the type.
  expect(
    await cli.parley(['channels', 'connect', '--agent', 'helper', '--contact-type', 'customer'], {
      env: rival,
    }),
  ).toMatchObject({ exitCode: 1 });
  expect(await connect(connected, '--contact-type', '')).toMatchObject({ exitCode: 0 });
  expect(await types()).toEqual([null]);
  const waiting = [
    'channels',
    'connect',
    '--agent',
    'helper',
    '--contact-type',
    'customer',
    ...org,
  ];
  expect(await cli.parley(waiting, { env })).toMatchObject({ exitCode: 0 });
  expect(await types()).toEqual([null, 'customer']);
  expect((await cli.parley(['channels', 'list', '--org', 'shop'], { env })).stdout).toContain(
    'CONTACT TYPE',
  );
});

/** Returns the finding of `parley doctor` about the messaging secret. */
async function doctor(secret?: string) {
  const { stdout } = await cli.parley(['doctor', '--json'], {
    env: {
      DATABASE_URL: stack.databaseUrl,
      ...(secret !== undefined && { MESSAGING_WEBHOOK_SECRET: secret }),
    },
  });
  const { findings } = JSON.parse(stdout) as {
    findings: { name: string; state: string; detail: string }[];
  };
  return findings.find(({ name }) => name === 'MESSAGING_WEBHOOK_SECRET');
}
const warns = (detail: string) => ({ state: 'warning', detail: expect.stringContaining(detail) });

test('doctor warns until each connection has a secret that is derived from the first one', async () => {
  expect(await doctor('kapso')).toMatchObject({
    state: 'ok',
    detail: 'each connection has its own secret (1)',
  });
  expect(await doctor()).toMatchObject({ state: 'ok' });

  const account = {
    organizationId: 'org',
    apiUrl: kapso.url,
    apiKey: kapso.apiKey,
    mediaReply: '',
    isShared: true,
  };
  const accounts = { kapso: async () => account, resend: async () => null };
  const webhookUrl = 'https://parley.example/webhook/kapso/messages';
  expect(await doctor('new,kapso')).toMatchObject(
    warns('have a secret that is derived from an earlier one'),
  );
  await registerOutdated({ db, accounts, webhookUrl, webhookSecrets: ['new', 'kapso'] }, 10);
  expect(await doctor('new,kapso')).toMatchObject({ state: 'ok' });
  expect(await doctor('new')).toMatchObject({ state: 'ok' });

  await db.pool.query('delete from channel_connections');
  expect(await doctor('kapso')).toMatchObject({ state: 'ok' });
  expect(await doctor()).toMatchObject({ state: 'skipped' });
});

test('an account that always fails does not block the replacement of a secret, and is named', async () => {
  await db.pool.query(
    `insert into channel_connections (id, tenant, environment, phone_number_id, status, webhook_id, secret_fingerprint, updated_at)
     select 'conn_dead', no, 'development', '5', 'connected', 'w', 'earlier', now() from organizations limit 1`,
  );
  const accounts = { kapso: async () => null, resend: async () => null };
  const fail = async (webhookSecrets: string[]) => {
    await db.pool.query('update channel_connections set webhook_try_at = null');
    await registerOutdated(
      { db, accounts, webhookUrl: 'https://parley.example', webhookSecrets },
      10,
    );
  };
  for (let failures = 0; failures < 2; failures += 1) await fail(['new', 'kapso']);
  expect(await doctor('new,kapso')).toMatchObject(
    warns(
      '1 of 1 connections (conn_dead of shop) have a secret that is derived from an earlier one',
    ),
  );
  await fail(['new', 'kapso']);
  for (const secret of ['new,kapso', 'new'])
    expect(await doctor(secret)).toMatchObject(
      warns('the webhooks of 1 of 1 connections (conn_dead of shop) could not be registered again'),
    );
  await db.pool.query('delete from channel_connections');
  expect(await doctor('new')).toMatchObject({ state: 'ok' });
});
