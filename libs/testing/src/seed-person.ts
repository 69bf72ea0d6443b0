import { createHash, randomBytes } from 'node:crypto';
import type { Environment, PersonRole } from '@parley/contracts';
import type { Pool } from 'pg';

export interface SeededPerson {
  id: string;
  /** The cookie of a session, and what browsers send with it. */
  headers: Record<string, string>;
  /** Ends the session. */
  signOut(): Promise<void>;
}

/** Inserts a signed-in person of an organization. */
export async function seedPerson(
  db: Pick<Pool, 'query'>,
  {
    tenant,
    role,
    environment = 'development',
  }: { tenant: number; role: PersonRole; environment?: Environment },
): Promise<SeededPerson> {
  const id = `user_${randomBytes(13).toString('hex')}`;
  const token = randomBytes(32).toString('base64url');
  const hash = createHash('sha256').update(token).digest();
  await db.query(
    'insert into users (id, email, verified, updated_at) values ($1, $2, true, now())',
    [id, `${id}@example.com`],
  );
  const { rows } = await db.query(
    `with member as (
       insert into memberships (id, tenant, user_id, role, verified, updated_at)
       values ($1, $2, $1, $3::"MembershipRole", true, now())),
     session as (
       insert into sessions (id, hash, user_id, expires_at) values ($1, $4, $1, now() + interval '1 day'))
     select id from organizations where no = $2`,
    [id, tenant, role, hash],
  );
  const headers = {
    Cookie: `__Host-parley_session=${token}`,
    'Sec-Fetch-Site': 'same-origin',
    'Parley-Organization': rows[0].id as string,
    'Parley-Environment': environment,
  };
  return {
    id,
    headers,
    signOut: async () =>
      void (await db.query('update sessions set revoked_at = now() where user_id = $1', [id])),
  };
}
