import { type Queryable, column, statement } from '@parley/db';

/**
 * Who a person is at an OpenID provider. Unlike an e-mail address, a subject never belongs to
 * another person later.
 */
export interface OidcIdentity {
  issuer: string;
  subject: string;
}

const find = statement(
  'find-oidc-identity',
  `select u.id as "userId" from user_identities i join users u on u.id = i.user_id and u.deleted_at is null
   where i.issuer = $issuer and i.subject = $subject`,
  { userId: column.text },
);

/** The id of the person who has signed in with an identity before; null when there is none. */
export async function personOfIdentity(
  tx: Queryable,
  { issuer, subject }: OidcIdentity,
): Promise<string | null> {
  return (
    (await tx.acrossTenants('session look-up', find, { issuer, subject })).rows[0]?.userId ?? null
  );
}

const ofWebhook = statement(
  'person-by-webhook-id',
  'select id from users where external_id = $subject and verified and deleted_at is null',
  { id: column.text },
);

/**
 * The id of the person whom a signed event of the identity provider's webhook named
 * with this subject.
 */
export async function personOfWebhook(tx: Queryable, subject: string): Promise<string | null> {
  return (await tx.acrossTenants('session look-up', ofWebhook, { subject })).rows[0]?.id ?? null;
}

const bind = statement(
  'bind-oidc-identity',
  `insert into user_identities as i (issuer, subject, user_id) values ($issuer, $subject, $userId)
   on conflict (issuer, subject) do update set user_id = excluded.user_id
     where exists (select from users u where u.id = i.user_id and u.deleted_at is not null)`,
);

/**
 * Binds an identity to a person. False when it belongs to another person, who has not been deleted.
 */
export async function bindIdentity(
  tx: Queryable,
  { issuer, subject }: OidcIdentity,
  userId: string,
): Promise<boolean> {
  return (
    (await tx.acrossTenants('session look-up', bind, { issuer, subject, userId })).rowCount === 1
  );
}
