import { type Queryable, column, statement } from '@parley/db';

export type Owner = { ok: true; organizationId: string; tenant: number } | { ok: false; reason: 'unknown' | 'several' };

const ownersOfName = statement(
  'owners-of-name',
  `select id, no as tenant, case when id = $1 or verified then 1 else 3 end as rank
   from organizations where (id = $1 or external_id = $1) and deleted_at is null
   union
   select o.id, o.no, case when m.verified then 2 else 3 end
   from users u join memberships m on m.user_id = u.id and m.deleted_at is null
     join organizations o on o.no = m.tenant and o.deleted_at is null
   where u.id = $1 or u.external_id = $1
   order by rank limit 2`,
  { id: column.text, tenant: column.int4, rank: column.int4 },
);

/**
 * Finds an organization by its id, or by the id of a user who belongs to one organization. Both may be our id or the identity
 * provider's. A forged unsigned event can contain any id of the identity provider (docs/adr/0030), so matches have ranks, and
 * only the highest rank counts: our id and verified organizations, then verified memberships, then unverified ones of both.
 */
export async function findOwner(db: Queryable, name: string): Promise<Owner> {
  const { rows } = await db.acrossTenants('inbound webhook', ownersOfName, [name]);
  const [first, second] = rows;
  if (first && (!second || second.rank > first.rank))
    return { ok: true, organizationId: first.id, tenant: first.tenant };
  return { ok: false, reason: first ? 'several' : 'unknown' };
}
