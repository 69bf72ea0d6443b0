export { channelBacklogs } from './backlogs';
export { createAccounts } from './accounts';
export { channelVariables } from './channel-variables';
export { type Channels, createChannels } from './create-channels';
export { type SecretMail } from './email/secret-mail';
export { applyEmailStatus, findDueEmails } from './email/emails';
export { type SentEmail, findEmail, listEmails } from './email/read-emails';
export { retryEmail } from './email/retry-email';
export { heldChannels } from './held-channels';
export { createKapsoClient } from './kapso/kapso-client';
export { findDueBlobs, readBlob } from './media/blobs';
export { channelsPurge, removeOldStatuses } from './retention';
export { checkCredentials } from './check-credentials';
export { answerAgain } from './whatsapp/answer-again';
export { applyMessageStatus } from './whatsapp/apply-message-status';
export { connectChannel } from './whatsapp/connect-channel';
export {
  type ConnectDeps,
  connectNumber,
  disconnectChannel,
  disconnectNumber,
  findConnection,
} from './whatsapp/connections';
export { type KnownNumber, findNumbers, listAnswering } from './whatsapp/find-connections';
export { latestNumberOf, readAliases } from './whatsapp/contacts';
export { deliveriesOf } from './whatsapp/deliveries';
export { eraseContact } from './whatsapp/erase-contact';
export { itemsOf, phoneNumberIdOf, readProjectNumber } from './whatsapp/kapso-body';
export { replyKey } from './whatsapp/message-keys';
export { findDueMessages, queueMessage } from './whatsapp/outbox';
export { listConnections, updateConnection } from './whatsapp/read-connections';
export { readInbound } from './whatsapp/read-inbound';
export { readSharedContent } from './whatsapp/read-shared-content';
export {
  type ChannelMessage,
  findMessage,
  listMessages,
  repliesOf,
} from './whatsapp/read-messages';
export { queueFailureReply, readFailureReplyState } from './whatsapp/failure-reply';
export {
  type QueuedReply,
  type ReplyContent,
  queueReply,
  readThreadContact,
} from './whatsapp/queue-reply';
export { requestOf } from './whatsapp/request-of';
export { readRegistrations, registerOutdated } from './whatsapp/registrations';
export { retryMessage } from './whatsapp/retry-message';
export { storeInbound } from './whatsapp/store-inbound';
export { type PhoneMessage, storePhoneReply } from './whatsapp/store-phone-reply';
export { threadKeyOf } from './whatsapp/thread-key';
export {
  type AnswerEnd,
  type WaitingMessage,
  claimDue,
  claimNext,
  findWaiting,
  finishMessage,
  postpone,
  renewClaims,
  waitingMessages,
  holdClaim,
} from './whatsapp/waiting-messages';
export { webhookSecretOf } from './whatsapp/webhook-secret';
