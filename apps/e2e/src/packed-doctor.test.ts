import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createDb, createSecretBox, saveIntegration } from '@parley/db';
import { createTestDatabase, seedOrganization } from '@parley/testing';
import pg from 'pg';
import { installCommand } from './install-packages';
import { shared } from './stack';
import { type Tenant, createTenant } from './tenant';
import { runFile } from './command-line';

jest.setTimeout(180_000);

let tenant: Tenant;
let env: Record<string, string>;
const folder = mkdtempSync(join(tmpdir(), 'parley-doctor-'));

beforeAll(async () => {
  tenant = await createTenant();
  env = {
    PATH: process.env.PATH!,
    PARLEY_URL: shared.url,
    PARLEY_API_KEY: (await tenant.client()).key,
  };
  await installCommand(folder);
}, 240_000);
afterAll(async () => {
  await tenant.close();
  rmSync(folder, { recursive: true, force: true });
});

const parley = (args: string[], more: Record<string, string> = {}) =>
  runFile(join(folder, 'node_modules', '.bin', 'parley'), args, {
    cwd: folder,
    env: { ...env, ...more },
  });

test('doctor reports each problem and its fix, and ends with status 1', async () => {
  const database = await createTestDatabase();
  const admin = new pg.Pool({ connectionString: database.url, max: 1 });
  admin.on('error', () => {});
  const doctor = async (more: Record<string, string>) => {
    const whole = {
      DATABASE_URL: database.url,
      REDIS_URL: shared.redisUrl,
      SECRETS_KEY: shared.secretsKey,
    };
    const { code, stdout } = await parley(['doctor', '--json'], { ...whole, ...more });
    const { ok, findings } = JSON.parse(stdout) as {
      ok: boolean;
      findings: { name: string; state: string; detail: string; fix?: string }[];
    };
    expect(code).toBe(ok ? 0 : 1);
    return findings.filter(({ state }) => state === 'failed');
  };
  const unreachable = '127.0.0.1:1';
  try {
    const { scope } = await seedOrganization(admin, { slug: 'shop' });
    const db = createDb({ databaseUrl: database.url, poolSize: 1 });
    const integration = { provider: 'resend', config: {}, secrets: { apiKey: 'x' } };
    await saveIntegration(db, createSecretBox(shared.secretsKey), scope, integration);
    await db.close();
    expect(await doctor({})).toEqual([]);
    expect(await doctor({ REDIS_URL: `redis://${unreachable}` })).toEqual([
      {
        name: 'Redis',
        state: 'failed',
        detail: `cannot connect: connect ECONNREFUSED ${unreachable}`,
        fix: 'Start Redis, or correct REDIS_URL',
      },
    ]);
    expect(await doctor({ DATABASE_URL: `postgres://a@${unreachable}/b` })).toEqual([
      {
        name: 'PostgreSQL',
        state: 'failed',
        detail: `connect ECONNREFUSED ${unreachable}`,
        fix: 'Start PostgreSQL, or correct DATABASE_URL',
      },
    ]);
    expect(await doctor({ PARLEY_URL: `http://${unreachable}` })).toMatchObject([
      {
        name: 'Gateway',
        detail: expect.stringContaining('cannot connect'),
        fix: expect.stringContaining('npm start'),
      },
    ]);
    expect(await doctor({ PARLEY_API_KEY: 'sk_dev_wrong' })).toMatchObject([
      {
        name: 'API key',
        detail: expect.stringContaining('revoked or expired'),
        fix: expect.stringContaining('parley keys create'),
      },
    ]);
    expect(await doctor({ SECRETS_KEY: randomBytes(32).toString('base64') })).toMatchObject([
      {
        name: 'SECRETS_KEY',
        detail: 'cannot decrypt 1 of 1 stored secrets: integration resend in development of shop',
        fix: expect.stringContaining('Add the key that encrypted them to SECRETS_KEY'),
      },
    ]);
    expect(await doctor({ SECRETS_KEY: 'short' })).toMatchObject([
      {
        name: 'SECRETS_KEY',
        detail: expect.stringContaining('32 bytes'),
        fix: expect.stringContaining('openssl'),
      },
    ]);
    await admin.query(
      'delete from _prisma_migrations where migration_name = (select max(migration_name) from _prisma_migrations)',
    );
    expect(await doctor({})).toMatchObject([
      {
        name: 'Schema',
        detail: expect.stringContaining('lacks 1 migration'),
        fix: 'parley migrate',
      },
    ]);
    // The output without --json.
    const { code, stdout, stderr } = await parley(['doctor'], { DATABASE_URL: database.url });
    expect([code, stderr]).toEqual([1, '1 of 8 checks failed.\n']);
    expect(stdout).toMatch(/^failed {3}Schema: .*\n {9}→ parley migrate$/m);
  } finally {
    await admin.end();
    await database.drop();
  }
});
