import { operations } from '@parley/contracts';
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

/** Users, organizations and memberships. Unsigned unless there is a secret (interface.md, decisions.md). */
export const clerkDoor = (secrets: readonly string[]): Door => ({
  provider: 'clerk',
  operation: operations.clerkWebhook,
  verify: ({ headers, body }, nowMs) =>
    secrets.length === 0
      ? { ok: true }
      : verifyStandardWebhook({ headers, body, secrets, families: ['svix', 'webhook'], nowMs }),
  read({ headers, body }) {
    const envelope = readEnvelope(body, handled, 'id');
    if (!envelope.ok) return envelope;
    const { eventType, isHandled } = envelope;
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
