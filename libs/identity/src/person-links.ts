import { type Queryable, column, statement } from '@parley/db';
import { hashOfToken, newToken } from './sessions';

/** What the link does: sets a password, or proves an e-mail address. */
export type LinkPurpose = 'password' | 'email';

export interface NewPersonLink {
  purpose: LinkPurpose;
  /** The address to which it is sent; null when a command prints it. */
  email: string | null;
  /** The organization whose account sends it; null: that of the server. */
  proofTenant: number | null;
}

/** How long a link works. */
export const personLinkMinutes = 30;

const put = statement(
  'put-person-link',
  `insert into person_links (user_id, purpose, hash, email, proof_tenant, expires_at)
   values ($userId, $purpose, $hash, $email, $proofTenant, now() + make_interval(mins => ${personLinkMinutes}))
   on conflict (user_id, purpose) do update set hash = excluded.hash, email = excluded.email,
     proof_tenant = excluded.proof_tenant, created_at = excluded.created_at, expires_at = excluded.expires_at`,
);

/**
 * Creates a link, which ends the earlier one of the same purpose. Only the hash of its
 * token is stored.
 */
export async function createPersonLink(
  tx: Queryable,
  userId: string,
  { purpose, email, proofTenant }: NewPersonLink,
): Promise<string> {
  const token = newToken();
  await tx.acrossTenants('session look-up', put, {
    userId,
    purpose,
    hash: hashOfToken(token),
    email,
    proofTenant,
  });
  return token;
}

/**
 * The address of the page that uses a link. The token is behind #, so browsers send it to no server
 * and no log has it.
 */
export const personLinkAddress = (publicUrl: string, purpose: LinkPurpose, token: string): string =>
  `${publicUrl.replace(/\/+$/, '')}/console/#/${purpose === 'password' ? 'reset' : 'confirm'}/${token}`;

const linkRow = {
  userId: column.text,
  email: column.text.nullable,
  proofTenant: column.int4.nullable,
};
const isOpen = `l.hash = $hash and l.purpose = $purpose and l.expires_at > now()
  and exists (select from users u where u.id = l.user_id and u.deleted_at is null)`;
const columns = 'l.user_id as "userId", l.email, l.proof_tenant as "proofTenant"';

const find = statement(
  'find-person-link',
  `select ${columns} from person_links l where ${isOpen}`,
  linkRow,
);

/** Finds a link that works; null when it was used or replaced, or has expired. */
export async function findPersonLink(db: Queryable, purpose: LinkPurpose, token: string) {
  return (
    (await db.acrossTenants('session look-up', find, { hash: hashOfToken(token), purpose }))
      .rows[0] ?? null
  );
}

const use = statement(
  'use-person-link',
  `delete from person_links l where ${isOpen} returning ${columns}`,
  linkRow,
);

/** Uses a link up: of two requests with one link the second finds none. */
export async function usePersonLink(tx: Queryable, purpose: LinkPurpose, token: string) {
  return (
    (await tx.acrossTenants('session look-up', use, { hash: hashOfToken(token), purpose }))
      .rows[0] ?? null
  );
}

const end = statement('end-person-links', 'delete from person_links where user_id = $userId');

/** Ends all links of a person, after a change of the password or the address. */
export async function endPersonLinks(tx: Queryable, userId: string): Promise<void> {
  await tx.acrossTenants('session look-up', end, { userId });
}
