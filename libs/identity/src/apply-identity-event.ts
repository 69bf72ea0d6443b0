import { type Json, type JsonObject, objectAt, textAt } from '@parley/contracts';
import type { Db, Queryable } from '@parley/db';
import type { Change } from './change';
import { deleteOrganization } from './delete-organization';
import { lockIdentities } from './lock-identities';
import { deleteMembership, putMembership } from './memberships';
import { putOrganization } from './put-organization';
import type { Source } from './precedence';
import { putUser } from './users';

export interface Applied {
  /** `received`: the event cannot be applied yet and is retried. */
  outcome: {
    status: 'processed' | 'ignored' | 'received';
    reason?: string;
    organizationId?: string;
  };
  /** The organization whose purge was planned. */
  purge?: { organizationId: string };
  /** Whether an organization or a membership was created. */
  isNewOwner?: boolean;
}

/**
 * Applies an event of the identity provider (docs/reference/webhooks.md#identity). Events may
 * arrive in any order: an older state never replaces a newer one, deleted records are not created
 * again, and a membership creates its user and organization. An unsigned event replaces no signed
 * state. It can only plan the purge of a verified organization, which can be stopped for a day
 * (docs/adr/0030).
 */
export function applyIdentityEvent(
  db: Db,
  event: JsonObject,
  { purgeGraceDays, ...delivered }: Omit<Source, 'happenedAt'> & { purgeGraceDays: number },
): Promise<Applied> {
  const source: Source = { ...delivered, happenedAt: dateOf(event.timestamp) };
  const type = textAt(event.type) ?? '';
  const data = objectAt(event.data);
  return db.transaction(async (tx): Promise<Applied> => {
    await lockSubjects(tx, type, data);
    switch (type) {
      case 'user.created':
      case 'user.updated':
        return toApplied(await putUser(tx, data, timeOf(event), source));
      case 'organization.created':
      case 'organization.updated':
        return toApplied(await putOrganization(tx, data, timeOf(event), source));
      case 'organization.deleted': {
        const options = { graceDays: purgeGraceDays, ...source };
        const change = await deleteOrganization(tx, textAt(data.id) ?? '', options);
        const { organizationId, ignored } = change;
        const isPlanned = organizationId !== undefined && ignored === undefined;
        return { ...toApplied(change), ...(isPlanned && { purge: { organizationId } }) };
      }
      case 'organizationMembership.created':
      case 'organizationMembership.updated':
        return toApplied(await putMembership(tx, data, timeOf(event), source));
      case 'organizationMembership.deleted':
        return toApplied(await deleteMembership(tx, data, source));
      default:
        return { outcome: { status: 'ignored', reason: `${type} has no effect here` } };
    }
  });
}

const toApplied = ({ organizationId, isNew, ignored, postponed }: Change): Applied => ({
  outcome: {
    status: postponed !== undefined ? 'received' : ignored !== undefined ? 'ignored' : 'processed',
    reason: postponed ?? ignored,
    organizationId,
  },
  isNewOwner: isNew,
});

/** The time of the state in `data`: its own, else the event's time. */
const timeOf = (event: JsonObject): Date =>
  dateOf(objectAt(event.data).updated_at) ?? dateOf(event.timestamp) ?? new Date();

/** Converts Unix milliseconds; null for any other value. */
function dateOf(value: Json | undefined): Date | null {
  const date = new Date(typeof value === 'number' ? value : NaN);
  return Number.isFinite(date.getTime()) ? date : null;
}

/**
 * Serializes events about one subject: a deletion must see what a concurrent creation has written.
 */
async function lockSubjects(tx: Queryable, type: string, data: JsonObject): Promise<void> {
  const subjects = type.startsWith('organizationMembership.')
    ? [objectAt(data.organization).id, objectAt(data.public_user_data).user_id]
    : [data.id];
  await lockIdentities(
    tx,
    subjects.map((id) => textAt(id) ?? ''),
  );
}
