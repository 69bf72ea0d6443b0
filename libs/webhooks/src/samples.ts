import userCreated from '../fixtures/clerk/user.created.json';
import userCreatedPrimaryNotFirst from '../fixtures/clerk/user.created.primary-not-first.json';
import userCreatedNoEmail from '../fixtures/clerk/user.created.no-email.json';
import userUpdated from '../fixtures/clerk/user.updated.json';
import userDeleted from '../fixtures/clerk/user.deleted.json';
import organizationCreated from '../fixtures/clerk/organization.created.json';
import organizationCreatedNoSlug from '../fixtures/clerk/organization.created.no-slug.json';
import organizationUpdated from '../fixtures/clerk/organization.updated.json';
import organizationDeleted from '../fixtures/clerk/organization.deleted.json';
import organizationmembershipCreated from '../fixtures/clerk/organizationMembership.created.json';
import organizationmembershipCreatedCustomRole from '../fixtures/clerk/organizationMembership.created.custom-role.json';
import organizationmembershipCreatedLegacyRole from '../fixtures/clerk/organizationMembership.created.legacy-role.json';
import organizationmembershipUpdated from '../fixtures/clerk/organizationMembership.updated.json';
import organizationmembershipDeleted from '../fixtures/clerk/organizationMembership.deleted.json';
import sessionCreatedUnhandled from '../fixtures/clerk/session.created.unhandled.json';
import whatsappPhoneNumberCreated from '../fixtures/kapso/whatsapp.phone_number.created.json';
import whatsappPhoneNumberDeleted from '../fixtures/kapso/whatsapp.phone_number.deleted.json';
import workflowExecutionFailedUnhandled from '../fixtures/kapso/workflow.execution.failed.unhandled.json';
import whatsappMessageReceived from '../fixtures/kapso/whatsapp.message.received.json';
import whatsappMessageReceivedPlusPhone from '../fixtures/kapso/whatsapp.message.received.plus-phone.json';
import whatsappMessageReceivedImage from '../fixtures/kapso/whatsapp.message.received.image.json';
import whatsappMessageReceivedAudio from '../fixtures/kapso/whatsapp.message.received.audio.json';
import whatsappMessageReceivedInteractive from '../fixtures/kapso/whatsapp.message.received.interactive.json';
import whatsappMessageReceivedReaction from '../fixtures/kapso/whatsapp.message.received.reaction.json';
import whatsappMessageReceivedLocationNoContent from '../fixtures/kapso/whatsapp.message.received.location.no-content.json';
import whatsappMessageReceivedBsuidOnly from '../fixtures/kapso/whatsapp.message.received.bsuid-only.json';
import whatsappMessageReceivedHistorySync from '../fixtures/kapso/whatsapp.message.received.history-sync.json';
import whatsappMessageReceivedUnknownNumber from '../fixtures/kapso/whatsapp.message.received.unknown-number.json';
import whatsappMessageReceivedBatch from '../fixtures/kapso/whatsapp.message.received.batch.json';
import whatsappMessageReceivedBatchOfOne from '../fixtures/kapso/whatsapp.message.received.batch-of-one.json';
import whatsappMessageReceivedEscaped from '../fixtures/kapso/whatsapp.message.received.escaped.json';
import whatsappMessageSent from '../fixtures/kapso/whatsapp.message.sent.json';
import whatsappMessageDelivered from '../fixtures/kapso/whatsapp.message.delivered.json';
import whatsappMessageRead from '../fixtures/kapso/whatsapp.message.read.json';
import whatsappMessageFailed from '../fixtures/kapso/whatsapp.message.failed.json';
import whatsappMessageSentBusinessApp from '../fixtures/kapso/whatsapp.message.sent.business-app.json';
import whatsappConversationEndedUnhandled from '../fixtures/kapso/whatsapp.conversation.ended.unhandled.json';
import interfaceShapeMessageReceived from '../fixtures/kapso/interface-shape.message.received.json';
import interfaceShapeMessageStatus from '../fixtures/kapso/interface-shape.message.status.json';
import orderPaid from '../fixtures/polar/order.paid.json';
import orderPaidExternalId from '../fixtures/polar/order.paid.external-id.json';
import orderPaidCustomerMetadata from '../fixtures/polar/order.paid.customer-metadata.json';
import orderPaidUnattributed from '../fixtures/polar/order.paid.unattributed.json';
import orderPaidDiscounted from '../fixtures/polar/order.paid.discounted.json';
import orderPaidSubscriptionCycle from '../fixtures/polar/order.paid.subscription-cycle.json';
import orderCreatedPending from '../fixtures/polar/order.created.pending.json';
import orderRefundedPartial from '../fixtures/polar/order.refunded.partial.json';
import orderRefundedPartialSecond from '../fixtures/polar/order.refunded.partial-second.json';
import orderRefunded from '../fixtures/polar/order.refunded.json';
import refundCreated from '../fixtures/polar/refund.created.json';
import refundCreatedPending from '../fixtures/polar/refund.created.pending.json';
import refundUpdated from '../fixtures/polar/refund.updated.json';
import emailSent from '../fixtures/resend/email.sent.json';
import emailDelivered from '../fixtures/resend/email.delivered.json';
import emailDeliveryDelayed from '../fixtures/resend/email.delivery_delayed.json';
import emailBounced from '../fixtures/resend/email.bounced.json';
import emailBouncedTransient from '../fixtures/resend/email.bounced.transient.json';
import emailComplained from '../fixtures/resend/email.complained.json';
import emailOpened from '../fixtures/resend/email.opened.json';
import emailClicked from '../fixtures/resend/email.clicked.json';
import emailFailed from '../fixtures/resend/email.failed.json';
import emailSuppressed from '../fixtures/resend/email.suppressed.json';
import emailDeliveredMultiRecipient from '../fixtures/resend/email.delivered.multi-recipient.json';
import emailDeliveredTagsArray from '../fixtures/resend/email.delivered.tags-array.json';
import emailReceivedUnhandled from '../fixtures/resend/email.received.unhandled.json';
import contactCreatedUnhandled from '../fixtures/resend/contact.created.unhandled.json';

/** A delivery as its provider sends it, from the fixtures. */
export interface WebhookSample {
  path: string;
  event: string;
  /** Sent as JSON, to `/webhook/flow` as a form. */
  body: object;
}

export const webhookSamples: Readonly<Record<string, WebhookSample>> = {
  'user.created': { path: '/webhook/clerk', event: 'user.created', body: userCreated },
  'user.created.primary-not-first': {
    path: '/webhook/clerk',
    event: 'user.created',
    body: userCreatedPrimaryNotFirst,
  },
  'user.created.no-email': {
    path: '/webhook/clerk',
    event: 'user.created',
    body: userCreatedNoEmail,
  },
  'user.updated': { path: '/webhook/clerk', event: 'user.updated', body: userUpdated },
  'user.deleted': { path: '/webhook/clerk', event: 'user.deleted', body: userDeleted },
  'organization.created': {
    path: '/webhook/clerk',
    event: 'organization.created',
    body: organizationCreated,
  },
  'organization.created.no-slug': {
    path: '/webhook/clerk',
    event: 'organization.created',
    body: organizationCreatedNoSlug,
  },
  'organization.updated': {
    path: '/webhook/clerk',
    event: 'organization.updated',
    body: organizationUpdated,
  },
  'organization.deleted': {
    path: '/webhook/clerk',
    event: 'organization.deleted',
    body: organizationDeleted,
  },
  'organizationMembership.created': {
    path: '/webhook/clerk',
    event: 'organizationMembership.created',
    body: organizationmembershipCreated,
  },
  'organizationMembership.created.custom-role': {
    path: '/webhook/clerk',
    event: 'organizationMembership.created',
    body: organizationmembershipCreatedCustomRole,
  },
  'organizationMembership.created.legacy-role': {
    path: '/webhook/clerk',
    event: 'organizationMembership.created',
    body: organizationmembershipCreatedLegacyRole,
  },
  'organizationMembership.updated': {
    path: '/webhook/clerk',
    event: 'organizationMembership.updated',
    body: organizationmembershipUpdated,
  },
  'organizationMembership.deleted': {
    path: '/webhook/clerk',
    event: 'organizationMembership.deleted',
    body: organizationmembershipDeleted,
  },
  'session.created.unhandled': {
    path: '/webhook/clerk',
    event: 'session.created',
    body: sessionCreatedUnhandled,
  },
  'whatsapp.phone_number.created': {
    path: '/webhook/kapso/project',
    event: 'whatsapp.phone_number.created',
    body: whatsappPhoneNumberCreated,
  },
  'whatsapp.phone_number.deleted': {
    path: '/webhook/kapso/project',
    event: 'whatsapp.phone_number.deleted',
    body: whatsappPhoneNumberDeleted,
  },
  'workflow.execution.failed.unhandled': {
    path: '/webhook/kapso/project',
    event: 'workflow.execution.failed',
    body: workflowExecutionFailedUnhandled,
  },
  'whatsapp.message.received': {
    path: '/webhook/kapso/messages',
    event: 'whatsapp.message.received',
    body: whatsappMessageReceived,
  },
  'whatsapp.message.received.plus-phone': {
    path: '/webhook/kapso/messages',
    event: 'whatsapp.message.received',
    body: whatsappMessageReceivedPlusPhone,
  },
  'whatsapp.message.received.image': {
    path: '/webhook/kapso/messages',
    event: 'whatsapp.message.received',
    body: whatsappMessageReceivedImage,
  },
  'whatsapp.message.received.audio': {
    path: '/webhook/kapso/messages',
    event: 'whatsapp.message.received',
    body: whatsappMessageReceivedAudio,
  },
  'whatsapp.message.received.interactive': {
    path: '/webhook/kapso/messages',
    event: 'whatsapp.message.received',
    body: whatsappMessageReceivedInteractive,
  },
  'whatsapp.message.received.reaction': {
    path: '/webhook/kapso/messages',
    event: 'whatsapp.message.received',
    body: whatsappMessageReceivedReaction,
  },
  'whatsapp.message.received.location.no-content': {
    path: '/webhook/kapso/messages',
    event: 'whatsapp.message.received',
    body: whatsappMessageReceivedLocationNoContent,
  },
  'whatsapp.message.received.bsuid-only': {
    path: '/webhook/kapso/messages',
    event: 'whatsapp.message.received',
    body: whatsappMessageReceivedBsuidOnly,
  },
  'whatsapp.message.received.history-sync': {
    path: '/webhook/kapso/messages',
    event: 'whatsapp.message.received',
    body: whatsappMessageReceivedHistorySync,
  },
  'whatsapp.message.received.unknown-number': {
    path: '/webhook/kapso/messages',
    event: 'whatsapp.message.received',
    body: whatsappMessageReceivedUnknownNumber,
  },
  'whatsapp.message.received.batch': {
    path: '/webhook/kapso/messages',
    event: 'whatsapp.message.received',
    body: whatsappMessageReceivedBatch,
  },
  'whatsapp.message.received.batch-of-one': {
    path: '/webhook/kapso/messages',
    event: 'whatsapp.message.received',
    body: whatsappMessageReceivedBatchOfOne,
  },
  'whatsapp.message.received.escaped': {
    path: '/webhook/kapso/messages',
    event: 'whatsapp.message.received',
    body: whatsappMessageReceivedEscaped,
  },
  'whatsapp.message.sent': {
    path: '/webhook/kapso/messages',
    event: 'whatsapp.message.sent',
    body: whatsappMessageSent,
  },
  'whatsapp.message.delivered': {
    path: '/webhook/kapso/messages',
    event: 'whatsapp.message.delivered',
    body: whatsappMessageDelivered,
  },
  'whatsapp.message.read': {
    path: '/webhook/kapso/messages',
    event: 'whatsapp.message.read',
    body: whatsappMessageRead,
  },
  'whatsapp.message.failed': {
    path: '/webhook/kapso/messages',
    event: 'whatsapp.message.failed',
    body: whatsappMessageFailed,
  },
  'whatsapp.message.sent.business-app': {
    path: '/webhook/kapso/messages',
    event: 'whatsapp.message.sent',
    body: whatsappMessageSentBusinessApp,
  },
  'whatsapp.conversation.ended.unhandled': {
    path: '/webhook/kapso/messages',
    event: 'whatsapp.conversation.ended',
    body: whatsappConversationEndedUnhandled,
  },
  'interface-shape.message.received': {
    path: '/webhook/kapso/messages',
    event: 'whatsapp.message.received',
    body: interfaceShapeMessageReceived,
  },
  'interface-shape.message.status': {
    path: '/webhook/kapso/messages',
    event: 'whatsapp.message.delivered',
    body: interfaceShapeMessageStatus,
  },
  'order.paid': { path: '/webhook/polar', event: 'order.paid', body: orderPaid },
  'order.paid.external-id': {
    path: '/webhook/polar',
    event: 'order.paid',
    body: orderPaidExternalId,
  },
  'order.paid.customer-metadata': {
    path: '/webhook/polar',
    event: 'order.paid',
    body: orderPaidCustomerMetadata,
  },
  'order.paid.unattributed': {
    path: '/webhook/polar',
    event: 'order.paid',
    body: orderPaidUnattributed,
  },
  'order.paid.discounted': {
    path: '/webhook/polar',
    event: 'order.paid',
    body: orderPaidDiscounted,
  },
  'order.paid.subscription-cycle': {
    path: '/webhook/polar',
    event: 'order.paid',
    body: orderPaidSubscriptionCycle,
  },
  'order.created.pending': {
    path: '/webhook/polar',
    event: 'order.created',
    body: orderCreatedPending,
  },
  'order.refunded.partial': {
    path: '/webhook/polar',
    event: 'order.refunded',
    body: orderRefundedPartial,
  },
  'order.refunded.partial-second': {
    path: '/webhook/polar',
    event: 'order.refunded',
    body: orderRefundedPartialSecond,
  },
  'order.refunded': { path: '/webhook/polar', event: 'order.refunded', body: orderRefunded },
  'refund.created': { path: '/webhook/polar', event: 'refund.created', body: refundCreated },
  'refund.created.pending': {
    path: '/webhook/polar',
    event: 'refund.created',
    body: refundCreatedPending,
  },
  'refund.updated': { path: '/webhook/polar', event: 'refund.updated', body: refundUpdated },
  'email.sent': { path: '/webhook/resend', event: 'email.sent', body: emailSent },
  'email.delivered': { path: '/webhook/resend', event: 'email.delivered', body: emailDelivered },
  'email.delivery_delayed': {
    path: '/webhook/resend',
    event: 'email.delivery_delayed',
    body: emailDeliveryDelayed,
  },
  'email.bounced': { path: '/webhook/resend', event: 'email.bounced', body: emailBounced },
  'email.bounced.transient': {
    path: '/webhook/resend',
    event: 'email.bounced',
    body: emailBouncedTransient,
  },
  'email.complained': { path: '/webhook/resend', event: 'email.complained', body: emailComplained },
  'email.opened': { path: '/webhook/resend', event: 'email.opened', body: emailOpened },
  'email.clicked': { path: '/webhook/resend', event: 'email.clicked', body: emailClicked },
  'email.failed': { path: '/webhook/resend', event: 'email.failed', body: emailFailed },
  'email.suppressed': { path: '/webhook/resend', event: 'email.suppressed', body: emailSuppressed },
  'email.delivered.multi-recipient': {
    path: '/webhook/resend',
    event: 'email.delivered',
    body: emailDeliveredMultiRecipient,
  },
  'email.delivered.tags-array': {
    path: '/webhook/resend',
    event: 'email.delivered',
    body: emailDeliveredTagsArray,
  },
  'email.received.unhandled': {
    path: '/webhook/resend',
    event: 'email.received',
    body: emailReceivedUnhandled,
  },
  'payment.confirmation': {
    path: '/webhook/flow',
    event: 'payment.confirmation',
    body: { token: 'F1C7E000-NO-PAYMENT' },
  },
  'contact.created.unhandled': {
    path: '/webhook/resend',
    event: 'contact.created',
    body: contactCreatedUnhandled,
  },
};
