import { type JsonObject, objectAt, textAt } from '@parley/contracts';
import type { Queryable } from '@parley/db';
import { unknownOwner } from '@parley/webhooks';

export type Owner = { ok: true; organizationId: string } | { ok: false; reason: string };

/**
 * Whose order it is: `metadata.organizationId`, then the customer's external id, then `customer.metadata.userId`
 * (interface.md, Billing webhook), in snake case and camel case, by our id or the identity provider's. The first one that
 * is there counts: money does not go to a second guess.
 */
export async function findOwner(db: Queryable, order: JsonObject): Promise<Owner> {
  const metadata = objectAt(order.metadata);
  const customer = objectAt(order.customer);
  const name =
    textAt(metadata.organizationId) ??
    textAt(metadata.organization_id) ??
    textAt(customer.external_id) ??
    textAt(customer.externalId) ??
    textAt(objectAt(customer.metadata).userId) ??
    textAt(objectAt(customer.metadata).user_id);
  if (name === undefined) return { ok: false, reason: 'the order names no organization and no user' };
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
  if (rows.length > 1) return { ok: false, reason: `user ${name} belongs to several organizations` };
  return { ok: false, reason: `${unknownOwner}${name}` };
}
