import { type Db, createDb } from '@parley/db';
import { openTestDatabase, seedOrganization } from '@parley/testing';
import { type Cli, openCli } from './testing/run-command';

let db: Db & { url: string };
let cli: Cli;

beforeAll(async () => {
  cli = openCli();
  db = await openTestDatabase(createDb);
});
afterAll(async () => {
  await db.close();
  cli.remove();
});

const succeed = (args: string[]) => cli.succeed(args, { env: { DATABASE_URL: db.url } });

test('org list shows all organizations that are not being deleted', async () => {
  const { scope } = await seedOrganization(db.pool, { slug: 'shop' });
  await seedOrganization(db.pool, { slug: 'deleted' });
  await db.pool.query(`update organizations set external_id = 'org_2abc' where slug = 'shop'`);
  await db.pool.query(`update organizations set deleted_at = now() where slug = 'deleted'`);
  const table = await succeed(['org', 'list']);
  expect(table).toMatch(/^SLUG +NAME +ID +PROVIDER ID +CREATED\nshop .* org_2abc /);
  expect(table).not.toContain('deleted');
  const { organizations } = JSON.parse(await succeed(['org', 'list', '--json']));
  const shown = {
    id: scope.organizationId,
    externalId: 'org_2abc',
    slug: 'shop',
    name: 'Organization shop',
  };
  expect(organizations).toEqual([{ ...shown, createdAt: expect.any(String) }]);
  const made = JSON.parse(await succeed(['org', 'create', '--slug', 'new', '--name', 'New']));
  expect(Object.keys(made)).toEqual(Object.keys(organizations[0]));
});
