export { type Delivery, type DeliveryStatus, type NewDelivery } from './delivery';
export { type Inbox, createInbox } from './inbox';
export { readFormField, readJsonObject } from './read-body';
export { signBody, verifyBodySignature } from './signatures/body-signature';
export { signStandardWebhook, verifyStandardWebhook } from './signatures/standard-webhook';
export { type DeliveryHeaders, type Verdict, headerOf } from './signatures/verdict';
export { type Outcome, findOverdue, finishDelivery, loadPending, retryUnattributed, unknownOwner } from './work-off';
