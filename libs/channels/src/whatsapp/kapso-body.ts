import { type JsonObject, listAt, objectAt, textAt } from '@parley/contracts';

// Both webhook-ingest and the worker read these fields here: the number whose signature is checked
// must be the number that the worker acts on.

/** The items of a body: the items of a batch, or the body itself. */
export const itemsOf = (body: JsonObject): JsonObject[] =>
  body.batch === true || Array.isArray(body.data) ? listAt(body.data).map(objectAt) : [body];

/** The connected phone number that an item belongs to. */
export const phoneNumberIdOf = (item: JsonObject): string | undefined =>
  textAt(item.phone_number_id) ?? textAt(objectAt(item.conversation).phone_number_id);

/**
 * Reads the number of a project webhook; null for other bodies, such as messages, which also
 * contain a number.
 */
export function readProjectNumber(body: JsonObject) {
  const number = textAt(body.phone_number_id) ? body : objectAt(body.data);
  const phoneNumberId = textAt(number.phone_number_id);
  const isOther = [body, number].some(
    (part) => 'message' in part || 'conversation' in part || 'batch' in part,
  );
  if (isOther || phoneNumberId === undefined) return null;
  // Kapso's own bodies always name the number's project or customer.
  const hasOwner = [number.project, number.customer].some((owner) => objectAt(owner) === owner);
  return { phoneNumberId, customerId: textAt(objectAt(number.customer).id) ?? null, hasOwner };
}
