/**
 * The external id of the thread of a WhatsApp contact
 * (docs/reference/webhooks.md#channel-messages).
 */
export const threadKeyOf = (contact: string): string => `whatsapp:${contact}`;

const prefix = threadKeyOf('');

/** The contact of a WhatsApp thread; null for threads of other channels. */
export const contactOfThread = (externalId: string | null): string | null =>
  externalId?.startsWith(prefix) && externalId.length > prefix.length
    ? externalId.slice(prefix.length)
    : null;
