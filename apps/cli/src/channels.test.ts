import { randomBytes } from 'node:crypto';
import { type Db, createDb } from '@parley/db';
import {
  type KapsoServer,
  type TestDatabase,
  createTestDatabase,
  seedOrganization,
  startKapsoServer,
} from '@parley/testing';
import { type Cli, buildCli } from './cli-under-test';

/** Every test starts processes. */
jest.setTimeout(60_000);

let database: TestDatabase;
let db: Db;
let cli: Cli;
let kapso: KapsoServer;
let env: Record<string, string>;

beforeAll(async () => {
  cli = buildCli();
  database = await createTestDatabase();
  db = createDb({ databaseUrl: database.url });
  kapso = await startKapsoServer();
  const agents = [{ slug: 'helper' }, { slug: 'seller' }];
  await seedOrganization(db.pool, { slug: 'shop', agents });
  await seedOrganization(db.pool, { slug: 'rival', agents });
  env = {
    DATABASE_URL: database.url,
    SECRETS_KEY: randomBytes(32).toString('base64'),
    PUBLIC_URL: 'https://parley.example',
    MESSAGING_WEBHOOK_SECRET: 'kapso',
    KAPSO_API_URL: kapso.url,
    KAPSO_API_KEY: kapso.apiKey,
  };
});
afterAll(async () => {
  await kapso.stop();
  await db.close();
  await database.drop();
  cli.remove();
});

test('a number is connected once: again is the same connection, and nobody else takes it', async () => {
  const connect = (agent: string, org: string) =>
    cli.parley(
      ['channels', 'connect', '--agent', agent, '--org', org, '--phone-number-id', '109876543210987', '--json'],
      { env },
    );
  const first = await connect('helper', 'shop');
  expect(first).toMatchObject({ code: 0 });
  const again = await connect('helper', 'shop');
  expect(JSON.parse(again.stdout)).toEqual(JSON.parse(first.stdout));
  const { connectionId } = JSON.parse(first.stdout) as { connectionId: string };
  expect(await connect('seller', 'shop')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining(`has the connection ${connectionId} already, and agent helper answers there`),
  });
  expect(await connect('helper', 'rival')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('is connected to another organization or environment'),
  });
  const { rows } = await db.pool.query('select id, status from channel_connections');
  expect(rows).toEqual([{ id: connectionId, status: 'connected' }]);
});
