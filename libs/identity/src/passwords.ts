import { type Queryable, column, statement } from '@parley/db';
import { lockEmail, normalEmail } from './email-proofs';
import { hashPassword, matchPassword, newSalt } from './password-hash';

const passwordsByEmail = statement(
  'passwords-by-email',
  `select user_id as "userId", hash from passwords where email = $email
   order by email_proved_at is null, email_proof_tenant is not null, changed_at desc`,
  { userId: column.text, hash: column.text },
);

/** Accounts with one address whose organizations get an audit entry of a failed sign-in. */
const maxHolders = 3;

export interface PasswordCheck {
  /**
   * The account whose password it is. Of several with the same password, the one that proved the
   * address, else the latest.
   */
  match: { userId: string; hash: string } | null;
  /** Accounts with the address, at most 3, those that proved it first. */
  holders: string[];
}

/**
 * Checks an e-mail address and a password. Several people may have the address: the password
 * decides who signs in.
 */
export async function checkPassword(
  db: Queryable,
  email: string,
  password: string,
): Promise<PasswordCheck> {
  const { rows } = await db.acrossTenants('session look-up', passwordsByEmail, {
    email: normalEmail(email),
  });
  const hash = await matchPassword(
    rows.map((row) => row.hash),
    password,
  );
  const match = rows.find((row) => row.hash === hash) ?? null;
  return { match, holders: rows.slice(0, maxHolders).map(({ userId }) => userId) };
}

const hold = statement(
  'hold-password',
  'select from passwords where user_id = $userId and hash = $hash for share',
);

/**
 * Holds the password that was checked until the end of the transaction, so that a change of it
 * finds and ends the session that the transaction begins. False when it has been changed since.
 */
export async function holdPassword(tx: Queryable, userId: string, hash: string): Promise<boolean> {
  return (await tx.acrossTenants('session look-up', hold, { userId, hash })).rowCount === 1;
}

const findOrAddSalt = statement(
  'salt-of-email',
  `insert into password_salts (email, salt)
   values ($email, coalesce((select split_part(hash, '$', 5) from passwords where email = $email order by changed_at
     limit 1), $newSalt))
   on conflict (email) do update set email = excluded.email returning salt`,
  { salt: column.text },
);

/** The salt of all passwords of an address, for hashPassword. */
export async function saltOfEmail(db: Queryable, email: string): Promise<string> {
  return (
    await db.acrossTenants('session look-up', findOrAddSalt, {
      email: normalEmail(email),
      newSalt: newSalt(),
    })
  ).rows[0]!.salt;
}

const put = statement(
  'put-password',
  `insert into passwords as p (user_id, email, hash) values ($userId, $email, $hash)
   on conflict (user_id) do update
     set hash = excluded.hash, changed_at = excluded.changed_at, email = excluded.email,
         email_proved_at = case when p.email = excluded.email then p.email_proved_at end,
         email_proof_tenant = case when p.email = excluded.email then p.email_proof_tenant end`,
);

/**
 * Stores the address and the password with which a person signs in. A new address is not proved.
 */
export async function putPassword(
  tx: Queryable,
  userId: string,
  email: string,
  hash: string,
): Promise<void> {
  await lockEmail(tx, email);
  await tx.acrossTenants('session look-up', put, { userId, email: normalEmail(email), hash });
}

const passwordOfUser = statement(
  'password-of-user',
  'select email, hash from passwords where user_id = $userId',
  {
    email: column.text,
    hash: column.text,
  },
);

/** The address with which a person signs in; null when the person has no password. */
export async function emailOfPassword(db: Queryable, userId: string): Promise<string | null> {
  return (
    (await db.acrossTenants('session look-up', passwordOfUser, { userId })).rows[0]?.email ?? null
  );
}

const lockPassword = statement(
  'lock-password',
  'select from passwords where user_id = $userId and hash = $hash for update',
);

/**
 * Checks the present password, and hashes the one of the change: a new password, a new address, or
 * both. Null when the present one is wrong, or there is none.
 */
export async function preparePasswordChange(
  db: Queryable,
  userId: string,
  { current, next = current, email }: { current: string; next?: string; email?: string },
): Promise<((tx: Queryable) => Promise<boolean>) | null> {
  const { rows } = await db.acrossTenants('session look-up', passwordOfUser, { userId });
  const stored = rows[0];
  if ((await matchPassword(stored === undefined ? [] : [stored.hash], current)) === null)
    return null;
  const address = email ?? stored!.email;
  const hash = await hashPassword(next, await saltOfEmail(db, address));
  return async (tx) => {
    await lockEmail(tx, address);
    // False when another change was faster.
    if (
      (await tx.acrossTenants('session look-up', lockPassword, { userId, hash: stored!.hash }))
        .rowCount === 0
    )
      return false;
    await putPassword(tx, userId, address, hash);
    return true;
  };
}
