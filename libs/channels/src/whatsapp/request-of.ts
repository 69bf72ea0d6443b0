import type { JsonObject } from '@parley/contracts';

/** Business-scoped ids begin with a country: `US.1349…`. */
export const isScopedId = (name: string): boolean => /^[A-Z]{2}\./.test(name);

/**
 * Builds a request to Kapso, for a phone number or a scoped id
 * (docs/reference/providers.md#kapso-api).
 */
export function requestOf(
  name: string,
  type: string,
  content: JsonObject,
  replyTo?: string,
): JsonObject {
  return {
    recipient_type: 'individual',
    ...(isScopedId(name) ? { recipient: name } : { to: name }),
    type,
    [type]: content,
    ...(replyTo !== undefined && { context: { message_id: replyTo } }),
  };
}
