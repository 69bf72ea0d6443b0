import { type Db, createDb } from '@parley/db';
import { openTestDatabase } from '@parley/testing';
import { listMemberEmails } from './memberships';
import {
  changeSettings,
  findOrganizationName,
  insertOrganization,
  listOrganizations,
  readSettings,
} from './organizations';

let db: Db;

beforeAll(async () => {
  db = await openTestDatabase(createDb);
});
afterAll(() => db.close());
beforeEach(() => db.pool.query('truncate organizations cascade'));

test('an organization is created once per slug, and listed until it is being deleted', async () => {
  const made = await insertOrganization(db, { id: 'org_b', slug: 'b', name: 'B' });
  expect(made).toEqual({
    id: 'org_b',
    tenant: expect.any(Number),
    externalId: null,
    slug: 'b',
    name: 'B',
    createdAt: expect.any(Date),
  });
  expect(await insertOrganization(db, { id: 'org_c', slug: 'b', name: 'C' })).toBeNull();
  await db.pool.query(
    `insert into organizations (id, external_id, slug, name, updated_at) values ('org_a', 'ext_a', 'a', 'A', now())`,
  );
  expect(await listOrganizations(db)).toEqual([
    expect.objectContaining({ id: 'org_a', externalId: 'ext_a' }),
    made,
  ]);
  expect(await listOrganizations(db, 'b')).toEqual([made]);
  expect(await findOrganizationName(db, 'org_b')).toEqual({
    slug: 'b',
    name: 'B',
    timezone: 'UTC',
  });
  await db.pool.query(`update organizations set deleted_at = now() where slug = 'b'`);
  expect(await listOrganizations(db, 'b')).toEqual([]);
});

test('changing settings keeps the other settings and other organizations', async () => {
  for (const slug of ['a', 'b'])
    await insertOrganization(db, { id: `org_${slug}`, slug, name: slug });
  await changeSettings(db, 'org_a', { theme: 'dark', limit: 1 });
  await changeSettings(db, 'org_a', { limit: 2 });
  expect(await readSettings(db, 'org_a')).toEqual({ theme: 'dark', limit: 2 });
  expect(await readSettings(db, 'org_b')).toEqual({});
  expect(await readSettings(db, 'org_none')).toEqual({});
});

test('the e-mail addresses of members are those of verified memberships of the organization', async () => {
  const own = (await insertOrganization(db, { id: 'org_a', slug: 'a', name: 'A' }))!;
  const other = (await insertOrganization(db, { id: 'org_b', slug: 'b', name: 'B' }))!;
  const people = [
    [own.tenant, 'ana', true],
    [own.tenant, 'ben', false],
    [other.tenant, 'eva', true],
  ] as const;
  for (const [tenant, name, verified] of people) {
    await db.pool.query(
      `insert into users (id, external_id, email, updated_at) values ($1, $1, $1 || '@example.com', now())
       on conflict do nothing`,
      [`emails_${name}`],
    );
    await db.pool.query(
      `insert into memberships (id, tenant, user_id, role, verified, updated_at) values ($1, $2, $1, 'member', $3, now())`,
      [`emails_${name}`, tenant, verified],
    );
  }
  expect(await listMemberEmails(db, own.tenant)).toEqual(['emails_ana@example.com']);
});
