/** The external id of the thread of a WhatsApp contact (docs/reference/webhooks.md#channel-messages). */
export const threadKeyOf = (contact: string): string => `whatsapp:${contact}`;
