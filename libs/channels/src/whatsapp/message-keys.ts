/**
 * The idempotency key of one part of the reply to a message: as text, and as an SQL expression
 * with the same value.
 */
export const replyKey = {
  of: (messageId: string, part: number): string => `reply-${messageId}-${part}`,
  sql: (messageId: string, part: string): string => `'reply-' || ${messageId} || '-' || ${part}`,
};

/** SQL expression of the idempotency key of the message that replaces a failed one on retry. */
export const retryKeySql = (messageId: string): string => `'retry-' || ${messageId}`;
