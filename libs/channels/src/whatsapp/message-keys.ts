/** The idempotency key of one part of the reply to a message: as text, and as SQL that makes the same text. */
export const replyKey = {
  of: (messageId: string, part: number): string => `reply-${messageId}-${part}`,
  sql: (messageId: string, part: string): string => `'reply-' || ${messageId} || '-' || ${part}`,
};

/** SQL of the idempotency key of the message that a person has sent in the place of a failed one. */
export const retryKeySql = (messageId: string): string => `'retry-' || ${messageId}`;
