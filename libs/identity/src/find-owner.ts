import type { Queryable } from '@parley/db';

export type Owner = { ok: true; organizationId: string } | { ok: false; reason: 'unknown' | 'several' };

/**
 * The organization that a name stands for: its id, or that of a user who belongs to one organization; each our id or the
 * identity provider's.
 */
export async function findOwner(db: Queryable, name: string): Promise<Owner> {
  const { rows: organizations } = await db.query<{ id: string }>(
    'select id from organizations where (id = $1 or external_id = $1) and deleted_at is null',
    [name],
  );
  if (organizations.length === 1) return { ok: true, organizationId: organizations[0]!.id };
  const { rows } = await db.query<{ id: string; verified: boolean }>(
    `select o.id, m.verified from users u join memberships m on m.user_id = u.id and m.deleted_at is null
     join organizations o on o.id = m.organization_id and o.deleted_at is null
     where u.id = $1 or u.external_id = $1 order by m.verified desc limit 2`,
    [name],
  );
  const [first, second] = rows;
  // A membership that came unsigned does not compete with one that is verified.
  if (first && (!second || (first.verified && !second.verified))) return { ok: true, organizationId: first.id };
  return { ok: false, reason: rows.length > 1 ? 'several' : 'unknown' };
}
