import { type Db, createDb } from '@parley/db';
import { openTestDatabase, seedOrganization } from '@parley/testing';
import { holdersOfEmail, proveEmail } from './email-proofs';
import { addMember, createUser } from './members';
import { listMemberEmails } from './memberships';
import { hashPassword } from './password-hash';
import { checkPassword, preparePasswordChange, putPassword, saltOfEmail } from './passwords';
import { createSession, createSessionCheck, organizationsOf } from './sessions';

let db: Db;
beforeAll(async () => {
  db = await openTestDatabase(createDb);
});
afterAll(() => db.close());

let count = 0;
const newEmail = () => `person-${(count += 1)}@example.com`;
async function person(email: string, password: string): Promise<string> {
  const id = await createUser(db, { email: null, name: null });
  const hash = await hashPassword(password, await saltOfEmail(db, email));
  await db.transaction((tx) => putPassword(tx, id, email, hash));
  return id;
}
const prove = (id: string, email: string, tenant: number | null = null) =>
  db.transaction((tx) => proveEmail(tx, id, email, tenant));
const provedOf = async (email: string) =>
  (await holdersOfEmail(db, email, 10)).filter(({ isProved }) => isProved).map(({ id }) => id);
const ownerOf = async (email: string, password: string) =>
  (await checkPassword(db, email, password)).match?.userId;

test('two people who prove an address at the same time do not both have it', async () => {
  const email = newEmail();
  const people = [await person(email, 'one password'), await person(email, 'another password')];
  for (let i = 0; i < 5; i += 1) {
    await Promise.all(people.map((id) => prove(id, email)));
    expect(await provedOf(email)).toHaveLength(1);
  }
});

test('a proof of one organization takes nothing from a proof that counts everywhere, and the other way round', async () => {
  const email = newEmail();
  const [everywhere, there] = [
    await person(email, 'one password'),
    await person(email, 'another password'),
  ];
  await prove(everywhere, email);
  await prove(there, email, 7);
  expect(await provedOf(email)).toEqual([everywhere, there]);
  await prove(everywhere, email, 7);
  expect(await provedOf(email)).toEqual([everywhere]);
  await prove(there, email, 8);
  await prove(there, email);
  expect(await provedOf(email)).toEqual([there]);
});

test('people with one address and different passwords sign in each with the own one; of two with the same, the one who proved it', async () => {
  const email = newEmail();
  const [first, second] = [
    await person(email, 'the first password'),
    await person(email, 'the second password'),
  ];
  expect([
    await ownerOf(email, 'the first password'),
    await ownerOf(email, 'the second password'),
  ]).toEqual([first, second]);
  expect(await ownerOf(email, 'the third password')).toBeUndefined();
  const change = await preparePasswordChange(db, second, {
    current: 'the second password',
    next: 'the first password',
  });
  expect(await db.transaction((tx) => change!(tx))).toBe(true);
  await prove(first, email);
  expect(await ownerOf(email, 'the first password')).toBe(first);
});

test('a password with a salt of its own still signs in beside others', async () => {
  const email = newEmail();
  const old = await createUser(db, { email: null, name: null });
  const oldHash = await hashPassword('the old password');
  const recent = await person(email, 'the recent password');
  await db.transaction((tx) => putPassword(tx, old, email, oldHash));
  expect([
    await ownerOf(email, 'the old password'),
    await ownerOf(email, 'the recent password'),
  ]).toEqual([old, recent]);
  expect(await saltOfEmail(db, email)).toBe(await saltOfEmail(db, email.toUpperCase()));
});

test('a change of the address keeps the password, and loses the proof', async () => {
  const [email, other] = [newEmail(), newEmail()];
  const id = await person(email, 'the password');
  await prove(id, email);
  const change = await preparePasswordChange(db, id, { current: 'the password', email: other });
  const stale = await preparePasswordChange(db, id, { current: 'the password', email: newEmail() });
  expect(await db.transaction((tx) => change!(tx))).toBe(true);
  expect(await db.transaction((tx) => stale!(tx))).toBe(false);
  expect([await ownerOf(other, 'the password'), await ownerOf(email, 'the password')]).toEqual([
    id,
    undefined,
  ]);
  expect(await provedOf(other)).toEqual([]);
});

test('an address that is not proved is not where e-mails to all members go, and has a mark in the name of its person', async () => {
  const { scope } = await seedOrganization(db.pool);
  const email = newEmail();
  const id = await person(email, 'the password');
  await addMember(db, scope, id, 'member');
  const { token } = await createSession(db, id, { address: null, userAgent: null });
  const nameNow = async () =>
    (await createSessionCheck(db)(token, scope.organizationId, undefined))!.name;
  expect([await listMemberEmails(db, scope.tenant), await nameNow()]).toEqual([
    [],
    `${email} (not confirmed)`,
  ]);
  await prove(id, email, scope.tenant);
  expect([await listMemberEmails(db, scope.tenant), await nameNow()]).toEqual([[email], email]);
  expect(await organizationsOf(db, id)).toMatchObject([{ isEmailProved: true }]);
});
