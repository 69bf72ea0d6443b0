import { type Json, type JsonObject, listAt, objectAt, textAt } from '@parley/contracts';

/** What a message without a text consists of. Null for messages of other types. */
interface SharedContent {
  location: {
    latitude: number;
    longitude: number;
    name: string | null;
    address: string | null;
  } | null;
  /**
   * `messageId`: the provider's id of the message that the contact reacted to. An empty `emoji`
   * removes a reaction.
   */
  reaction: { emoji: string; messageId: string | null } | null;
  contacts: { name: string | null; phoneNumbers: string[] }[] | null;
}

/**
 * Reads the location, reaction or contacts of a message. What has another form than the
 * provider's is null.
 */
export function readSharedContent(type: string, content: Json): SharedContent {
  return {
    location: type === 'location' ? readLocation(objectAt(content)) : null,
    reaction: type === 'reaction' ? readReaction(objectAt(content)) : null,
    contacts:
      type === 'contacts' && Array.isArray(content)
        ? listAt(content).map(objectAt).map(readContact)
        : null,
  };
}

function readLocation({
  latitude,
  longitude,
  name,
  address,
}: JsonObject): SharedContent['location'] {
  const isPlace =
    typeof latitude === 'number' &&
    typeof longitude === 'number' &&
    Math.abs(latitude) <= 90 &&
    Math.abs(longitude) <= 180;
  return isPlace
    ? { latitude, longitude, name: textAt(name) ?? null, address: textAt(address) ?? null }
    : null;
}

const readReaction = ({ emoji, message_id: messageId }: JsonObject): SharedContent['reaction'] => ({
  emoji: textAt(emoji) ?? '',
  messageId: textAt(messageId) ?? null,
});

const readContact = ({ name, phones }: JsonObject) => ({
  name: textAt(objectAt(name).formatted_name) ?? null,
  phoneNumbers: listAt(phones).flatMap((phone) => textAt(objectAt(phone).phone) ?? []),
});
