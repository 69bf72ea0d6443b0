import { type Queryable, column, statement } from '@parley/db';
import { hashPassword, isPasswordOf } from './password-hash';

/** The form in which addresses are stored and compared. */
export const normalEmail = (email: string): string => email.normalize('NFKC').toLowerCase();

const passwordByEmail = statement(
  'password-by-email',
  'select user_id as "userId", hash from passwords where email = $1',
  { userId: column.text, hash: column.text },
);

/** Checks an e-mail address and a password. `userId`: whose address it is, also when the password is wrong. */
export async function checkPassword(
  db: Queryable,
  email: string,
  password: string,
): Promise<{ userId: string | null; isRight: boolean; hash: string | null }> {
  const { rows } = await db.acrossTenants('session look-up', passwordByEmail, [normalEmail(email)]);
  const isRight = await isPasswordOf(rows[0]?.hash ?? null, password);
  return { userId: rows[0]?.userId ?? null, isRight, hash: rows[0]?.hash ?? null };
}

const hold = statement('hold-password', 'select from passwords where user_id = $1 and hash = $2 for share');

/**
 * Holds the password that was checked until the end of the transaction, so that a change of it finds and ends the session that
 * the transaction begins. False when it has been changed since.
 */
export async function holdPassword(tx: Queryable, userId: string, hash: string | null): Promise<boolean> {
  return (await tx.acrossTenants('session look-up', hold, [userId, hash])).rowCount === 1;
}

const insert = statement(
  'create-password',
  'insert into passwords (user_id, email, hash) values ($1, $2, $3) on conflict do nothing',
);

/** Stores the first password of a person. False when the address belongs to someone. */
export async function createPassword(tx: Queryable, userId: string, email: string, hash: string): Promise<boolean> {
  const values = [userId, normalEmail(email), hash];
  return (await tx.acrossTenants('session look-up', insert, values)).rowCount === 1;
}

const passwordOfUser = statement('password-of-user', 'select email, hash from passwords where user_id = $1', {
  email: column.text,
  hash: column.text,
});
const change = statement(
  'change-password',
  'update passwords set hash = $3, changed_at = now() where user_id = $1 and hash = $2',
);

/** The address with which a person signs in; null when the person has no password. */
export async function emailOfPassword(db: Queryable, userId: string): Promise<string | null> {
  return (await db.acrossTenants('session look-up', passwordOfUser, [userId])).rows[0]?.email ?? null;
}

/** Checks the present password and hashes the new one; null when the present one is wrong, or there is none. */
export async function preparePasswordChange(
  db: Queryable,
  userId: string,
  { current, next }: { current: string; next: string },
): Promise<((tx: Queryable) => Promise<boolean>) | null> {
  const { rows } = await db.acrossTenants('session look-up', passwordOfUser, [userId]);
  const stored = rows[0]?.hash ?? null;
  if (!(await isPasswordOf(stored, current))) return null;
  const hash = await hashPassword(next);
  // False when another change was faster.
  return async (tx) => (await tx.acrossTenants('session look-up', change, [userId, stored, hash])).rowCount === 1;
}
