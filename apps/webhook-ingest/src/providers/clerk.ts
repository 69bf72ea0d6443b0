import { type JsonObject, objectAt, operations, textAt } from '@parley/contracts';
import { headerOf, verifyStandardWebhook } from '@parley/webhooks';
import { HttpError } from '@parley/service';
import { type WebhookEndpoint, processingFailure } from '../webhook-endpoint';
import { digestOf } from '../receive-delivery';
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
 * Receives users, organizations and memberships. With a secret, signatures are required. Without
 * one, deliveries are accepted unsigned if `acceptsUnsigned`, and refused otherwise
 * (docs/adr/0030).
 */
export const clerkEndpoint = (
  secrets: readonly string[],
  acceptsUnsigned: boolean,
): WebhookEndpoint => ({
  provider: 'clerk',
  operation: operations.clerkWebhook,
  isUnsigned: secrets.length === 0,
  verify({ headers, body }, nowMs) {
    if (secrets.length > 0)
      return verifyStandardWebhook({
        headers,
        body,
        secrets,
        families: ['svix', 'webhook'],
        nowMs,
      });
    return acceptsUnsigned
      ? { ok: true }
      : { ok: false, reason: 'IDENTITY_WEBHOOK_SECRET is not set' };
  },
  read({ headers, body }) {
    const envelope = readEnvelope(body, handled, 'id');
    if (!envelope.ok) return envelope;
    const { eventType, isHandled, data } = envelope;
    if (isHandled && !hasSubjects(eventType, data))
      return { ok: false, reason: 'an id is missing or too long' };
    // An unsigned id header is not used: it could occupy the id of a later, genuine delivery.
    const named =
      secrets.length === 0
        ? undefined
        : (headerOf(headers, 'svix-id') ?? headerOf(headers, 'webhook-id'));
    return {
      ok: true,
      event: { deliveryId: named ?? `body-${digestOf(body)}`, eventType, isHandled },
    };
  },
  refusals: {
    signature: new HttpError(401, 'invalid_signature', 'Invalid signature'),
    malformed: processingFailure(),
    unavailable: processingFailure(),
  },
});

/** Ids have unique indexes, into which a longer one might not fit. */
const longestId = 255;

/** Whether an event has the ids that its job needs. */
function hasSubjects(eventType: string, data: JsonObject): boolean {
  const ids = [data.id];
  if (eventType.startsWith('organizationMembership.')) ids.push(objectAt(data.organization).id);
  if (/^organizationMembership\.(created|updated)$/.test(eventType))
    ids.push(objectAt(data.public_user_data).user_id);
  return ids.every((id) => (textAt(id)?.length ?? Infinity) <= longestId);
}
