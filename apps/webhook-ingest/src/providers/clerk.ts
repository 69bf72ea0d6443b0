import { type JsonObject, objectAt, operations, textAt } from '@parley/contracts';
import { headerOf, verifyStandardWebhook } from '@parley/webhooks';
import { HttpError } from '@parley/service';
import { type Door, processingFailure } from '../door';
import { digestOf } from '../receive';
import { readEnvelope } from './read-envelope';

const handled = new Set([
  'user.created',
  'user.updated',
  'organization.created',
  'organization.updated',
  'organization.deleted',
  'organizationMembership.created',
  'organizationMembership.updated',
  'organizationMembership.deleted',
]);

/**
 * Users, organizations and memberships. With a secret, signatures are required; without one, deliveries are accepted
 * unsigned where `acceptsUnsigned` says so, and refused elsewhere (docs/adr/0030).
 */
export const clerkDoor = (secrets: readonly string[], { acceptsUnsigned }: { acceptsUnsigned: boolean }): Door => ({
  provider: 'clerk',
  operation: operations.clerkWebhook,
  isUnsigned: secrets.length === 0,
  verify({ headers, body }, nowMs) {
    if (secrets.length > 0)
      return verifyStandardWebhook({ headers, body, secrets, families: ['svix', 'webhook'], nowMs });
    return acceptsUnsigned ? { ok: true } : { ok: false, reason: 'IDENTITY_WEBHOOK_SECRET is not set' };
  },
  read({ headers, body }) {
    const envelope = readEnvelope(body, handled, 'id');
    if (!envelope.ok) return envelope;
    const { eventType, isHandled, data } = envelope;
    if (isHandled && !hasSubjects(eventType, data)) return { ok: false, reason: 'an id is missing or too long' };
    // Where nobody has signed the header, it is not taken at its word: it could name a delivery yet to come.
    const named = secrets.length === 0 ? undefined : (headerOf(headers, 'svix-id') ?? headerOf(headers, 'webhook-id'));
    return { ok: true, event: { deliveryId: named ?? `body-${digestOf(body)}`, eventType, isHandled } };
  },
  refusals: {
    signature: new HttpError(401, 'invalid_signature', 'Invalid signature'),
    malformed: processingFailure(),
    unavailable: processingFailure(),
  },
});

/** Ids are unique in tables: a longer one does not fit into an index. */
const longestId = 255;

/** Whether an event names what it is about, so that its job can apply it. */
function hasSubjects(eventType: string, data: JsonObject): boolean {
  const isLink = /^organizationMembership\.(created|updated)$/.test(eventType);
  const links = isLink ? [objectAt(data.organization).id, objectAt(data.public_user_data).user_id] : [];
  return [data.id, ...links].every((id) => (textAt(id)?.length ?? Infinity) <= longestId);
}
