import { type JsonObject, listAt, objectAt, textAt } from '@parley/contracts';

// The only readers of these members: webhook-ingest checks signatures for the number that the worker later acts on.

/** The messages of a body: one, or those of a batch. */
export const itemsOf = (body: JsonObject): JsonObject[] =>
  body.batch === true || Array.isArray(body.data) ? listAt(body.data).map(objectAt) : [body];

/** The number of ours that a message belongs to. */
export const phoneNumberIdOf = (item: JsonObject): string | undefined =>
  textAt(item.phone_number_id) ?? textAt(objectAt(item.conversation).phone_number_id);

/** The number in a body of the project webhook; null when it is another body, such as a message, which names a number too. */
export function readProjectNumber(body: JsonObject) {
  const number = textAt(body.phone_number_id) ? body : objectAt(body.data);
  const phoneNumberId = textAt(number.phone_number_id);
  const isOther = [body, number].some((one) => 'message' in one || 'conversation' in one || 'batch' in one);
  if (isOther || phoneNumberId === undefined) return null;
  // All of Kapso's own bodies name the number's project or customer.
  const hasOwner = [number.project, number.customer].some((one) => objectAt(one) === one);
  return { phoneNumberId, customerId: textAt(objectAt(number.customer).id) ?? null, hasOwner };
}
