import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createTestDatabase, seedOrganization } from '@parley/testing';
import pg from 'pg';
import { installCommand } from './packages';
import { shared } from './stack';
import { type Tenant, createTenant } from './tenant';
import { runFile } from './terminal';

jest.setTimeout(180_000);

let tenant: Tenant;
let env: Record<string, string>;
const folder = mkdtempSync(join(tmpdir(), 'parley-doctor-'));

beforeAll(async () => {
  tenant = await createTenant();
  env = { PATH: process.env.PATH!, PARLEY_URL: shared.url, PARLEY_API_KEY: (await tenant.client()).key };
  await installCommand(folder);
}, 240_000);
afterAll(async () => {
  await tenant.close();
  rmSync(folder, { recursive: true, force: true });
});

const parley = (args: string[], more: Record<string, string> = {}) =>
  runFile(join(folder, 'node_modules', '.bin', 'parley'), args, { cwd: folder, env: { ...env, ...more } });

test('doctor says what is wrong and how to fix it, with status 1', async () => {
  const database = await createTestDatabase();
  const admin = new pg.Pool({ connectionString: database.url, max: 1 });
  admin.on('error', () => {});
  const doctor = async (more: Record<string, string>) => {
    const whole = { DATABASE_URL: database.url, REDIS_URL: shared.redisUrl, SECRETS_KEY: shared.secretsKey };
    const { code, stdout } = await parley(['doctor', '--json'], { ...whole, ...more });
    const { ok, findings } = JSON.parse(stdout) as {
      ok: boolean;
      findings: { name: string; state: string; detail: string; fix?: string }[];
    };
    expect(code).toBe(ok ? 0 : 1);
    return findings.filter(({ state }) => state === 'failed');
  };
  const dead = '127.0.0.1:1';
  try {
    await seedOrganization(admin, { slug: 'shop' });
    const keys = { DATABASE_URL: database.url, SECRETS_KEY: shared.secretsKey };
    expect(await parley(['integrations', 'set', 'resend', '--api-key', 'x', '--org', 'shop'], keys)).toMatchObject({
      code: 0,
    });
    expect(await doctor({})).toEqual([]);
    expect(await doctor({ REDIS_URL: `redis://${dead}` })).toEqual([
      {
        name: 'Redis',
        state: 'failed',
        detail: `does not answer: connect ECONNREFUSED ${dead}`,
        fix: 'Start Redis, or fix REDIS_URL',
      },
    ]);
    expect(await doctor({ DATABASE_URL: `postgres://a@${dead}/b` })).toEqual([
      {
        name: 'PostgreSQL',
        state: 'failed',
        detail: `connect ECONNREFUSED ${dead}`,
        fix: 'Start PostgreSQL, or fix DATABASE_URL',
      },
    ]);
    expect(await doctor({ PARLEY_URL: `http://${dead}` })).toMatchObject([
      {
        name: 'Gateway',
        detail: expect.stringContaining('does not answer'),
        fix: expect.stringContaining('npm start'),
      },
    ]);
    expect(await doctor({ PARLEY_API_KEY: 'sk_dev_wrong' })).toMatchObject([
      {
        name: 'API key',
        detail: expect.stringContaining('refused'),
        fix: expect.stringContaining('parley keys create'),
      },
    ]);
    expect(await doctor({ SECRETS_KEY: randomBytes(32).toString('base64') })).toMatchObject([
      {
        name: 'SECRETS_KEY',
        detail: 'does not open 1 of 1 sealed integrations: resend in development of shop',
        fix: expect.stringContaining('Set the SECRETS_KEY that they were sealed with'),
      },
    ]);
    expect(await doctor({ SECRETS_KEY: 'short' })).toMatchObject([
      { name: 'SECRETS_KEY', detail: expect.stringContaining('32 bytes'), fix: expect.stringContaining('openssl') },
    ]);
    await admin.query(
      'delete from _prisma_migrations where migration_name = (select max(migration_name) from _prisma_migrations)',
    );
    expect(await doctor({})).toMatchObject([
      { name: 'Schema', detail: expect.stringContaining('lacks 1 migration'), fix: 'parley migrate' },
    ]);
    // As a person sees it.
    const { code, stdout, stderr } = await parley(['doctor'], { DATABASE_URL: database.url });
    expect([code, stderr]).toEqual([1, '1 of 8 checks failed.\n']);
    expect(stdout).toMatch(/^failed {3}Schema: .*\n {9}→ parley migrate$/m);
  } finally {
    await admin.end();
    await database.drop();
  }
});
