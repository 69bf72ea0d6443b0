import { objectAt, textAt } from '@parley/contracts';
import { headerOf, readJsonObject, verifyStandardWebhook } from '@parley/webhooks';
import { HttpError } from '@parley/service';
import { type Door, eventNameAt, processingFailure } from '../door';
import { digestOf } from '../receive';

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
  path: '/webhook/clerk',
  verify: ({ headers, body }, nowMs) =>
    secrets.length === 0
      ? { ok: true }
      : verifyStandardWebhook({ headers, body, secrets, families: ['svix', 'webhook'], nowMs }),
  read({ headers, body }) {
    const envelope = readJsonObject(body);
    if (envelope === null) return { ok: false, reason: 'the body is not a JSON object' };
    const eventType = eventNameAt(envelope.type);
    if (eventType === undefined) return { ok: false, reason: 'the body has no type' };
    const isHandled = handled.has(eventType);
    if (isHandled && textAt(objectAt(envelope.data).id) === undefined)
      return { ok: false, reason: 'the body has no data.id' };
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
