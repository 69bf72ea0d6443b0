import type { Db } from '@parley/db';
import {
  addMember,
  createUser,
  findPersonLink,
  hashPassword,
  holdersOfEmail,
  proveEmail,
  putPassword,
} from '@parley/identity';
import { seedOrganization } from '@parley/testing';
import { type ManageUnderTest, startManage } from './testing/manage-under-test';
import { type Cli, openCli } from './testing/run-command';

/** Tests start processes, which takes time on a busy machine. */
jest.setTimeout(120_000);

let stack: ManageUnderTest;
let db: Db;
let cli: Cli;
let hash: string;
beforeAll(async () => {
  cli = openCli();
  stack = await startManage();
  ({ db } = stack);
  hash = await hashPassword('battery staple 12');
});
afterAll(async () => {
  await stack.close();
  cli.remove();
});

const env = () => ({ DATABASE_URL: stack.databaseUrl, PUBLIC_URL: 'https://parley.example' });
const parley = (...args: string[]) => cli.parley(['members', ...args], { env: env() });
const succeed = (...args: string[]) => cli.succeed(['members', ...args], { env: env() });

async function seedPerson(email: string, { isProved = false } = {}) {
  const { scope } = await seedOrganization(db.pool);
  const id = await createUser(db, { email: null, name: null });
  await addMember(db, scope, id, 'member');
  await db.transaction(async (tx) => {
    await putPassword(tx, id, email, hash);
    if (isProved) await proveEmail(tx, id, email, null);
  });
  return { id, tenant: scope.tenant };
}
const actionsIn = async (tenant: number) =>
  (
    await db.pool.query('select action from audit_log where tenant = $1 order by id', [tenant])
  ).rows.map(({ action }) => action as string);

test('members reset-password prints one link that works, and a newer one ends it', async () => {
  const { id, tenant } = await seedPerson('rosa@example.com');
  const first = await succeed('reset-password', 'Rosa@example.com');
  expect(first).toMatch(/^https:\/\/parley\.example\/console\/#\/reset\/[\w-]{43}$/);
  const { person, link } = JSON.parse(await succeed('reset-password', id, '--json'));
  expect(person).toBe(id);
  const found = (one: string) => findPersonLink(db, 'password', one.split('/').at(-1)!);
  expect([await found(first), await found(link)]).toEqual([
    null,
    { userId: id, email: null, proofTenant: null },
  ]);
  expect(await actionsIn(tenant)).toEqual(['password.reset_sent', 'password.reset_sent']);
});

test('members reset-password asks for the id when several people have the address, and refuses an unknown one', async () => {
  const people = [
    await seedPerson('luis@example.com', { isProved: true }),
    await seedPerson('luis@example.com'),
  ];
  const { exitCode, stderr } = await parley('reset-password', 'luis@example.com');
  expect(exitCode).toBe(1);
  for (const { id } of people) expect(stderr).toContain(id);
  for (const unknown of ['unknown@example.com', 'user_unknown'])
    expect((await parley('reset-password', unknown)).stderr).toContain(`"${unknown}"`);
});

test('members release-email takes an address from the people who have it, first from those who have not confirmed it', async () => {
  const email = 'sara@example.com';
  const owner = await seedPerson(email, { isProved: true });
  const other = await seedPerson(email);
  const holders = async () => (await holdersOfEmail(db, email, 10)).map(({ id }) => id);
  expect(await succeed('release-email', 'SARA@example.com', '--unconfirmed')).toBe(other.id);
  expect(await holders()).toEqual([owner.id]);
  expect(JSON.parse(await succeed('release-email', email, '--json'))).toEqual({
    email,
    people: [owner.id],
  });
  expect(await holders()).toEqual([]);
  for (const { tenant } of [owner, other])
    expect(await actionsIn(tenant)).toEqual(['email.released']);
  expect(await parley('release-email', email)).toMatchObject({ exitCode: 1 });
});
