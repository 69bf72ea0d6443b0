import { type Queryable, column, lockKey, statement } from '@parley/db';

/** The form in which addresses are stored and compared. */
export const normalEmail = (email: string): string => email.normalize('NFKC').toLowerCase();

/**
 * Changes of who proved an address run one after the other. Taken before the rows of
 * passwords are locked.
 */
export const lockEmail = async (tx: Queryable, email: string): Promise<void> =>
  void (await tx.acrossTenants('session look-up', lockKey, { key: `email:${normalEmail(email)}` }));

/**
 * SQL: the e-mail address of the person `u` with the password `p`. Without a password it is the
 * one of a provider.
 */
export const shownEmail = 'coalesce(p.email, u.email)';

/** SQL: whether the address of a password is proved in the organization with this number. */
export const isSignInEmailProvedIn = (tenant: string): string =>
  `(p.email_proved_at is not null and coalesce(p.email_proof_tenant = ${tenant}, p.email_proof_tenant is null))`;

/**
 * SQL: the same of the address that is shown. Providers vouch for the addresses that they send,
 * except in unsigned events.
 */
export const isEmailProvedIn = (tenant: string): string =>
  `case when p.email is null then u.email is not null and u.verified else ${isSignInEmailProvedIn(tenant)} end`;

const takeProof = statement(
  'take-proof-of-email',
  `update passwords set email_proved_at = null, email_proof_tenant = null
   where email = $email and user_id <> $userId and email_proved_at is not null and email_proof_tenant is not distinct
     from $tenant`,
);
const giveProof = statement(
  'prove-email',
  `update passwords set email_proved_at = now(), email_proof_tenant = $tenant
   where user_id = $userId and email = $email
     and ($tenant::int4 is null or email_proved_at is null or email_proof_tenant is not null)`,
);

/**
 * Notes that a person reads the mail of an address. The person who proved it before has not proved
 * it any more, and still signs in with it. `tenant`: the only organization in which the proof
 * counts, because its admins could have read the mail; null: it counts everywhere.
 */
export async function proveEmail(
  tx: Queryable,
  userId: string,
  email: string,
  tenant: number | null,
): Promise<void> {
  const values = { email: normalEmail(email), userId, tenant };
  await lockEmail(tx, email);
  await tx.acrossTenants('session look-up', takeProof, values);
  await tx.acrossTenants('session look-up', giveProof, values);
}

const holders = statement(
  'holders-of-email',
  `select u.id, coalesce(nullif(concat_ws(' ', u.first_name, u.last_name), ''), u.id) as name, p.email_proved_at is not null as "isProved",
     exists (select from user_identities i where i.user_id = u.id) as "hasIdentity"
   from passwords p join users u on u.id = p.user_id and u.deleted_at is null
   where p.email = $email order by p.email_proved_at is null or p.email_proof_tenant is not null, p.changed_at
     limit $limit`,
  { id: column.text, name: column.text, isProved: column.bool, hasIdentity: column.bool },
);

/**
 * The people who sign in with an address and a password. Those who proved it everywhere come first:
 * a proof in one organization is its admins' to make. `hasIdentity`: at an OpenID provider, too.
 */
export async function holdersOfEmail(db: Queryable, email: string, limit: number) {
  return (await db.acrossTenants('session look-up', holders, { email: normalEmail(email), limit }))
    .rows;
}

const release = statement(
  'release-email',
  `with released as (delete from passwords where email = $email and ($isProvedToo or email_proved_at is null)
     returning user_id as id),
     links as (delete from person_links l using released r where l.user_id = r.id)
   update users u set email = case when u.external_id is null then null else u.email end from released r where u.id = r.id
   returning u.id`,
  { id: column.text },
);

/**
 * Takes an address from the people who have it, with the password that belongs to it.
 * `isProvedToo`: also from those who proved it. Returns their ids.
 */
export async function releaseEmail(
  tx: Queryable,
  email: string,
  isProvedToo: boolean,
): Promise<string[]> {
  await lockEmail(tx, email);
  const { rows } = await tx.acrossTenants('operator command', release, {
    email: normalEmail(email),
    isProvedToo,
  });
  return rows.map(({ id }) => id);
}
