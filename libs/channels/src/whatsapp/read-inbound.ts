import { type JsonObject, listAt, objectAt, textAt } from '@parley/contracts';

/**
 * A person on the channel: digits of the phone number, and the business-scoped id, which replaces
 * a hidden number.
 */
export interface Identity {
  phone: string | null;
  scopedId: string | null;
}

export interface InboundMessage {
  messageId: string;
  /** Unix milliseconds. */
  sentAtMs: number;
  type: string;
  /** The text for the agent; null when the message has none. */
  text: string | null;
  mediaUrl: string | null;
  /** The name of the attached file, as the sender's device calls it. */
  filename: string | null;
  contactName: string | null;
  /** A message of the time before the number was connected. */
  isHistory: boolean;
  identity: Identity;
  /**
   * `agent`: the agent answers the text. `media`: the reply to media is sent. `store`: stored
   * without an answer.
   */
  handling: 'agent' | 'media' | 'store';
}

const media = new Set(['image', 'video', 'audio', 'voice', 'document', 'sticker']);
/** Types of messages that are stored without an answer. */
const unansweredTypes = new Set([
  'reaction',
  'location',
  'contacts',
  'system',
  'unsupported',
  'order',
]);

/**
 * Reads an inbound message in Kapso's format or the format of its API reference. Any field may be
 * missing (docs/reference/providers.md#kapso-webhooks). Null for a message without an id, or sent
 * by the business.
 */
export function readInbound(item: JsonObject): InboundMessage | null {
  const message = objectAt(item.message);
  return objectAt(message.kapso).direction === 'outbound'
    ? null
    : readMessageOf(item, message.from);
}

/**
 * Reads a message that a person sent from the phone itself (origin `business_app`), or null. Our
 * own messages have the origin `cloud_api`, and imported ones `history_sync`.
 */
export function readPhoneReply(item: JsonObject): InboundMessage | null {
  const message = objectAt(item.message);
  const { origin, direction } = objectAt(message.kapso);
  return origin === 'business_app' && direction === 'outbound'
    ? readMessageOf(item, message.to)
    : null;
}

/** `number`: the field of the contact. */
function readMessageOf(
  item: JsonObject,
  number: JsonObject[string] | undefined,
): InboundMessage | null {
  const message = objectAt(item.message);
  const kapso = objectAt(message.kapso);
  const conversation = objectAt(item.conversation);
  const messageId = textAt(message.id);
  if (messageId === undefined) return null;
  const type = textAt(message.type) ?? 'text';
  const text = unansweredTypes.has(type) ? null : textOf(type, message, kapso);
  const isHistory = kapso.origin === 'history_sync';
  return {
    messageId,
    sentAtMs: secondsToMs(message.timestamp),
    type,
    text,
    mediaUrl: textAt(kapso.media_url) ?? textAt(objectAt(kapso.media_data).url) ?? null,
    filename:
      textAt(objectAt(kapso.media_data).filename) ??
      textAt(objectAt(message[type]).filename) ??
      null,
    contactName: textAt(objectAt(conversation.kapso).contact_name) ?? null,
    isHistory,
    identity: readIdentity(number, item),
    handling: isHistory ? 'store' : text !== null ? 'agent' : media.has(type) ? 'media' : 'store',
  };
}

/** `number`: `from` of an inbound message, `to` of an outbound one. */
function readIdentity(number: JsonObject[string] | undefined, item: JsonObject): Identity {
  const message = objectAt(item.message);
  const conversation = objectAt(item.conversation);
  const phones = [conversation.phone_number, number, objectAt(message.kapso).phone_number];
  const scopedIds = [conversation.business_scoped_user_id, message.from_user_id];
  return {
    phone:
      phones.map((phone) => digitsOf(textAt(phone) ?? '')).find((digits) => digits !== '') ?? null,
    scopedId:
      scopedIds.map((id) => textAt(id) ?? '').find((id) => scopedIdPattern.test(id)) ?? null,
  };
}

const scopedIdPattern = /^[A-Z]{2}\.(?:ENT\.)?[A-Za-z0-9]{1,128}$/;

/** The digits of a phone number: `+1 415-555-0134` and `14155550134` are the same number. */
export const digitsOf = (phone: string): string => phone.replace(/\D/g, '').slice(0, 20);

function textOf(type: string, message: JsonObject, kapso: JsonObject): string | null {
  const own = objectAt(message[type]);
  const transcript = textAt(objectAt(kapso.transcript).text) ?? textAt(kapso.transcript);
  if (type === 'text')
    return textAt(own.body) ?? textAt(message.text) ?? textAt(kapso.content) ?? null;
  if (type === 'audio' || type === 'voice') return transcript ?? null;
  if (type === 'interactive') return replyOf(own) ?? textAt(kapso.content) ?? null;
  if (type === 'button')
    return textAt(own.text) ?? textAt(own.payload) ?? textAt(kapso.content) ?? null;
  if (media.has(type)) {
    const caption =
      textAt(own.caption) ?? textAt(objectAt(kapso.message_type_data).caption) ?? transcript;
    return caption ?? null;
  }
  return textAt(kapso.content) ?? null;
}

/** The chosen button or row of a list, or the content of a form. */
function replyOf(interactive: JsonObject): string | undefined {
  const { button_reply: button, list_reply: row, nfm_reply: form } = interactive;
  const title = textAt(objectAt(button).title) ?? textAt(objectAt(row).title);
  return title ?? textAt(objectAt(form).response_json) ?? textAt(objectAt(form).body);
}

/**
 * Converts Unix seconds, a number or text, to milliseconds; the current time for any other value.
 */
function secondsToMs(value: JsonObject[string] | undefined): number {
  const seconds = Number(textAt(value) ?? Number.NaN);
  return Number.isFinite(seconds) && seconds > 0 && seconds < 1e11
    ? Math.round(seconds * 1_000)
    : Date.now();
}

export interface StatusUpdate {
  messageId: string;
  status: 'sent' | 'delivered' | 'read' | 'failed';
  error: string | null;
  /** The `biz_opaque_callback_data` that was sent with the message. */
  reference: string | null;
  /**
   * Recipient and text, if the delivery has them. They identify a message whose id
   * is not known yet.
   */
  to: string | null;
  text: string | null;
}

const statuses = new Set(['sent', 'delivered', 'read', 'failed']);

/** Reads the current status of an outbound message; null when the delivery has none. */
export function readStatus(item: JsonObject, eventType: string): StatusUpdate | null {
  const message = objectAt(item.message);
  const kapso = objectAt(message.kapso);
  const messageId = textAt(message.id);
  const status = textAt(kapso.status) ?? textAt(message.status) ?? eventType.split('.').at(-1);
  if (messageId === undefined || status === undefined || !statuses.has(status)) return null;
  const history = listAt(kapso.statuses).map(objectAt);
  const errors = history.flatMap((entry) => listAt(entry.errors)).map(objectAt);
  return {
    messageId,
    status: status as StatusUpdate['status'],
    error: status === 'failed' ? errorOf(errors[0]) : null,
    reference:
      history
        .map((entry) => textAt(entry.biz_opaque_callback_data))
        .find((one) => one !== undefined) ?? null,
    to: readIdentity(message.to, item).phone,
    text: textAt(objectAt(message.text).body) ?? null,
  };
}

function errorOf(error: JsonObject | undefined): string {
  if (error === undefined) return 'the provider gave no reason';
  const details = textAt(objectAt(error.error_data).details);
  return [textAt(error.code), textAt(error.title) ?? textAt(error.message), details]
    .filter(Boolean)
    .join(': ');
}
