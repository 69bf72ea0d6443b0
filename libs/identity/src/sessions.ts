import { createHash, randomBytes } from 'node:crypto';
import type { SignedIn } from '@parley/contracts';
import { type Queryable, type RowOf, column, newId, statement } from '@parley/db';
import { isEmailProvedIn, shownEmail } from './email-proofs';
import { createTokenLookUp } from './token-look-up';
import type { KeyLimit } from './unknown-keys';

/**
 * A session ends this long after its beginning, and earlier when it was not used,
 * unless it is kept.
 */
const maxDays = 30;
const maxIdleDays = 7;
/** Ended sessions are deleted at a later sign-in of the same person. */
const keepEndedDays = 30;

export interface NewSession {
  address: string | null;
  userAgent: string | null;
  /** The session does not end by not being used. */
  isKept?: boolean;
}

export const newToken = (): string => randomBytes(32).toString('base64url');
export const hashOfToken = (token: string): Buffer => createHash('sha256').update(token).digest();

const insert = statement(
  'create-session',
  `with old as (delete from sessions where user_id = $userId
     and greatest(revoked_at, expires_at) < now() - make_interval(days => ${keepEndedDays}))
   insert into sessions (id, hash, user_id, address, user_agent, is_kept, expires_at)
   values ($id, $hash, $userId, $address, left($userAgent, 300), $isKept, now() + make_interval(days => ${maxDays}))
   returning expires_at as "expiresAt"`,
  { expiresAt: column.timestamptz },
);

/** Begins a session. Only the hash of its token is stored. */
export async function createSession(
  tx: Queryable,
  userId: string,
  { address, userAgent, isKept = false }: NewSession,
): Promise<{ id: string; token: string; expiresAt: Date }> {
  const id = newId('session');
  const token = newToken();
  const values = { id, hash: hashOfToken(token), userId, address, userAgent, isKept };
  const { rows } = await tx.acrossTenants('session look-up', insert, values);
  return { id, token, expiresAt: rows[0]!.expiresAt };
}

const isValid = `s.revoked_at is null and s.expires_at > now()
  and (s.is_kept or s.last_seen_at > now() - make_interval(days => ${maxIdleDays}))`;
const ofMember = 'm.verified and m.deleted_at is null and o.deleted_at is null';
const fullName = `nullif(concat_ws(' ', u.first_name, u.last_name), '')`;

const sessionSql = (hash: string, organization: string) =>
  `select s.id as "sessionId", u.id, ${shownEmail} as email, ${isEmailProvedIn('o.no')} as "isEmailProved",
     coalesce(${fullName}, case when ${isEmailProvedIn('o.no')} then ${shownEmail} else ${shownEmail} || ' (not confirmed)' end, u.id) as name, o.id as "organizationId", o.no as tenant, m.role::text as role,
     s.last_seen_at < now() - interval '5 minutes' as touch, ${isValid} and u.deleted_at is null as "isValid"
   from sessions s join users u on u.id = s.user_id
     left join passwords p on p.user_id = u.id
     left join organizations o on o.id = ${organization}
     left join memberships m on m.tenant = o.no and m.user_id = u.id and ${ofMember}
   where s.hash = ${hash}`;
const signedInRow = {
  sessionId: column.text,
  id: column.text,
  name: column.text,
  email: column.text.nullable,
  isEmailProved: column.bool,
  organizationId: column.text.nullable,
  tenant: column.int4.nullable,
  role: column.oneOf<'admin' | 'member'>().nullable,
  touch: column.bool,
  isValid: column.bool,
};

const sessionByHash = statement(
  'session-by-hash',
  sessionSql('$hash', '$organizationId'),
  signedInRow,
);
const sessionsByHash = statement(
  'sessions-by-hash',
  `select found.*, asked.at::int4 as at
   from unnest($hashes::bytea[], $organizationIds::text[]) with ordinality asked(hash, organization, at)
     cross join lateral (${sessionSql('asked.hash', 'asked.organization')}) found`,
  { ...signedInRow, at: column.int4 },
);
const touch = statement(
  'touch-session',
  'update sessions set last_seen_at = now() where id = $sessionId',
);

interface SessionCheckOptions<R> {
  /** The look-up counts as a use of the session. */
  isUse?: boolean;
  limit?: KeyLimit<R>;
}

/**
 * Returns the look-up of sessions: the person of a token, and the membership in the organization
 * that the request names. No session is cached, so its end and a change of a role hold on every
 * process at once. Tokens that never were a session's are limited for the address of the request;
 * those of ended sessions are not.
 */
export function createSessionCheck<R>(
  db: Queryable,
  { isUse = true, limit }: SessionCheckOptions<R> = {},
) {
  const lookUp = createTokenLookUp('sessions', limit);
  return async (
    token: string,
    organizationId: string | undefined,
    request: R,
  ): Promise<SignedIn | null> => {
    const find = async () => {
      const { rows } = await db.acrossTenants('session look-up', sessionByHash, {
        hash: hashOfToken(token),
        organizationId: organizationId ?? null,
      });
      return rows[0] ?? null;
    };
    const row = await lookUp(request, token, find);
    if (row === null || !row.isValid) return null;
    if (isUse && row.touch) touchSession(db, row);
    return toSignedIn(row);
  };
}

function touchSession(db: Queryable, { sessionId }: RowOf<typeof signedInRow>): void {
  db.acrossTenants('session look-up', touch, { sessionId }).catch(() => {});
}

function toSignedIn(row: RowOf<typeof signedInRow>): SignedIn {
  const { id, name, email, isEmailProved, sessionId, organizationId, role, tenant } = row;
  const isMember = role !== null && tenant !== null && organizationId !== null;
  return {
    id,
    name,
    email,
    isEmailProved,
    sessionId,
    membership: isMember ? { organizationId, tenant, role } : null,
  };
}

export interface AskedSession {
  token: string;
  organizationId: string | undefined;
}

/**
 * The people of several sessions, with one statement; null for each that has ended. Counts
 * as a use of them.
 */
export async function findSignedIn(
  db: Queryable,
  asked: readonly AskedSession[],
): Promise<(SignedIn | null)[]> {
  const values = {
    hashes: asked.map(({ token }) => hashOfToken(token)),
    organizationIds: asked.map(({ organizationId }) => organizationId ?? null),
  };
  const { rows } = await db.acrossTenants('session look-up', sessionsByHash, values);
  const touched = new Set<string>();
  const found = asked.map((): SignedIn | null => null);
  for (const row of rows.filter(({ isValid }) => isValid)) {
    if (row.touch && !touched.has(row.sessionId)) touchSession(db, row);
    touched.add(row.sessionId);
    found[row.at - 1] = toSignedIn(row);
  }
  return found;
}

const sessionRow = {
  id: column.text,
  address: column.text.nullable,
  userAgent: column.text.nullable,
  createdAt: column.timestamptz,
  lastSeenAt: column.timestamptz,
  expiresAt: column.timestamptz,
};

const sessionsOfUser = statement(
  'list-sessions',
  `select s.id, s.address, s.user_agent as "userAgent", s.created_at as "createdAt", s.last_seen_at as "lastSeenAt",
     s.expires_at as "expiresAt"
   from sessions s where s.user_id = $userId and ${isValid} order by s.created_at desc, s.id desc limit 100`,
  sessionRow,
);

/** The valid sessions of a person, the newest 100. */
export async function listSessions(
  db: Queryable,
  userId: string,
): Promise<RowOf<typeof sessionRow>[]> {
  return (await db.acrossTenants('session look-up', sessionsOfUser, { userId })).rows;
}

const end = statement(
  'end-sessions',
  `update sessions set revoked_at = now()
   where user_id = $userId and revoked_at is null and ($onlyId::text is null or id = $onlyId)
     and ($exceptId::text is null or id <> $exceptId)`,
);

/** Ends sessions of a person: one, all but one, or all. Returns their number. */
export async function endSessions(
  tx: Queryable,
  userId: string,
  { only, except }: { only?: string; except?: string } = {},
): Promise<number> {
  return (
    await tx.acrossTenants('session look-up', end, {
      userId,
      onlyId: only ?? null,
      exceptId: except ?? null,
    })
  ).rowCount;
}

const endWithoutMembership = statement(
  'end-sessions-without-membership',
  `update sessions set revoked_at = now() where user_id = $userId and revoked_at is null and not exists (
     select from memberships m join organizations o on o.no = m.tenant where m.user_id = $userId and ${ofMember})`,
);

/** Ends the sessions of a person who belongs to no organization any more. */
export async function endSessionsWithoutMembership(tx: Queryable, userId: string): Promise<void> {
  await tx.acrossTenants('session look-up', endWithoutMembership, { userId });
}

const personRow = {
  id: column.text,
  email: column.text.nullable,
  isEmailProved: column.bool,
  name: column.text.nullable,
  hasPassword: column.bool,
};
/** No other organization of the person than the one with this number. */
const isOnly = (tenant: string) =>
  `not exists (select from memberships m where m.user_id = u.id and m.verified and m.deleted_at is null and m.tenant <> ${tenant})`;
const personById = statement(
  'person-by-id',
  `select u.id, ${shownEmail} as email, ${fullName} as name,
     ${isEmailProvedIn('p.email_proof_tenant')} and (p.email_proof_tenant is null or ${isOnly('p.email_proof_tenant')}) as "isEmailProved",
     p.user_id is not null as "hasPassword"
   from users u left join passwords p on p.user_id = u.id where u.id = $userId`,
  personRow,
);

/**
 * The e-mail address and name of a person, and whether the address is proved in all
 * organizations of the person.
 */
export async function findPerson(db: Queryable, userId: string): Promise<RowOf<typeof personRow>> {
  return (await db.acrossTenants('session look-up', personById, { userId })).rows[0]!;
}

const organizationsOfUser = statement(
  'organizations-of-user',
  `select o.id, o.no as tenant, o.slug, o.name, m.role::text as role, ${isEmailProvedIn('m.tenant')} as "isEmailProved"
   from memberships m join organizations o on o.no = m.tenant join users u on u.id = m.user_id
     left join passwords p on p.user_id = m.user_id
   where m.user_id = $userId and ${ofMember} order by o.name, o.id`,
  {
    id: column.text,
    tenant: column.int4,
    slug: column.text,
    name: column.text,
    role: column.oneOf<'admin' | 'member'>(),
    isEmailProved: column.bool,
  },
);

/**
 * The organizations of a person, with the person's role and whether the e-mail address
 * is proved there.
 */
export async function organizationsOf(db: Queryable, userId: string) {
  return (await db.acrossTenants('session look-up', organizationsOfUser, { userId })).rows;
}
