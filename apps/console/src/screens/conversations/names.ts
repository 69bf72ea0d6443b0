import type { ResultOf } from '@parley/client/manage';

export type Thread = ResultOf<'getThread'>;
export type ListedThread = ResultOf<'listThreads'>['data'][number];
export const threadRoute = '/$organization/$environment/conversations/$threadId';

const prefix = 'whatsapp:';
/** The id of a WhatsApp contact; null on other channels. */
const contactIdOf = ({
  channel,
  externalId,
}: Pick<Thread, 'channel' | 'externalId'>): string | null =>
  channel === 'whatsapp' && externalId?.startsWith(prefix) ? externalId.slice(prefix.length) : null;

/** `+56912345678` of the digits that WhatsApp gives; other ids as they are. */
export const phoneOf = (id: string): string => (/^\d{7,15}$/.test(id) ? `+${id}` : id);

/** The name of a contact, else the number or id on its channel; null when it has none. */
export function nameOf(
  thread: Pick<Thread, 'channel' | 'externalId' | 'contactName'>,
): string | null {
  const contact = contactIdOf(thread);
  return thread.contactName ?? (contact === null ? thread.externalId : phoneOf(contact));
}

const media = /\n?\[(image|video|audio|voice|document|sticker)(?:: \S+)?\]/g;
/**
 * An instruction to the agent in place of a message, such as to answer again after a takeover: one
 * long text in brackets.
 */
const instruction = /^\[[^[\]]{40,}\]$/;
/**
 * A text without the marks that name the files of a message for the agent, such as
 * `[image: https://…]`.
 */
export const withoutFiles = (text: string): string =>
  text.replace(media, '').trim().replace(instruction, '');
/** The kinds of the files that a text for the agent names. */
export const filesIn = (text: string): string[] =>
  [...text.matchAll(media)].map((found) => found[1]!);

const dayMs = 24 * 3_600_000;
/**
 * Until when WhatsApp takes a reply that is no template, read from the contact's last message. Null
 * on other channels.
 */
export const windowEndOf = ({ channel, lastMessageAt }: ListedThread): number | null =>
  channel === 'whatsapp' ? lastMessageAt + dayMs : null;
