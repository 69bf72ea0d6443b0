import { type Queryable, column, statement } from '@parley/db';

export type Owner =
  | { ok: true; organizationId: string; tenant: number }
  | { ok: false; reason: 'unknown' | 'several' };

const ownersOfNames = statement(
  'owners-of-names',
  `select wanted as name, o.* from unnest($names::text[]) wanted cross join lateral (
     select id, no as tenant, case when id = wanted or verified then 1 else 3 end as rank
     from organizations where (id = wanted or external_id = wanted) and deleted_at is null
     union
     select o.id, o.no, case when m.verified then 2 else 3 end
     from users u join memberships m on m.user_id = u.id and m.deleted_at is null
       join organizations o on o.no = m.tenant and o.deleted_at is null
     where u.id = wanted or u.external_id = wanted
     order by rank limit 2) o`,
  { name: column.text, id: column.text, tenant: column.int4, rank: column.int4 },
);

/**
 * Finds organizations, each by its id or by the id of a user who belongs to one organization. Both
 * may be our id or the identity provider's. A forged unsigned event can contain any id of the
 * identity provider (docs/adr/0030), so matches have ranks, and only the highest rank counts: our
 * id and verified organizations, then verified memberships, then unverified ones of both.
 */
export async function findOwners(
  db: Queryable,
  names: readonly string[],
): Promise<Map<string, Owner>> {
  const { rows } = await db.acrossTenants('inbound webhook', ownersOfNames, { names });
  const found = Map.groupBy(rows, ({ name }) => name);
  return new Map(names.map((name) => [name, ownerOf(found.get(name) ?? [])]));
}

function ownerOf(matches: { id: string; tenant: number; rank: number }[]): Owner {
  const [first, second] = matches.sort((a, b) => a.rank - b.rank);
  if (first && (!second || second.rank > first.rank))
    return { ok: true, organizationId: first.id, tenant: first.tenant };
  return { ok: false, reason: first ? 'several' : 'unknown' };
}
