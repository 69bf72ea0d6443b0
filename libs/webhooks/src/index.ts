export { deliveryBacklogs } from './backlogs';
export { type DeliveryStatus, type NewDelivery, paymentCallback } from './delivery';
export { heldDeliveries } from './held-deliveries';
export { type Inbox, createInbox } from './inbox';
export { maskBody } from './mask-body';
export {
  findOwnDelivery,
  listOwnDeliveries,
  readReplay,
  replayMatching,
  replayOwnDelivery,
} from './own-deliveries';
export { findDelivery, listDeliveries } from './read-deliveries';
export { readFormField, readJsonObject } from './read-body';
export { type WebhookSample } from './samples';
export { bodySignatureProblem, signBody, verifyBodySignature } from './signatures/body-signature';
export { signStandardWebhook, verifyStandardWebhook } from './signatures/standard-webhook';
export { type DeliveryHeaders, type Verdict, headerOf } from './signatures/verdict';
export {
  type Delivery,
  type Outcome,
  type Retention,
  deliveriesPurge,
  findOverdue,
  finishDeliveries,
  loadPending,
  replayDeliveries,
  retryUnattributed,
  sweepDeliveries,
  unknownOwner,
  waitingDeliveries,
} from './process-delivery';

/** The sample deliveries of all providers, loaded on demand: only the CLI and tests use them. */
export const loadWebhookSamples = async () => (await import('./samples')).webhookSamples;
