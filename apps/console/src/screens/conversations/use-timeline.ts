import { useEffect, useMemo } from 'react';
import { useWorkspace } from '../../frame/workspace';
import { useLivePages } from '../../parts/live-pages';
import type { Thread } from './names';
import { type ChannelMessage, type Message, lastIdOf, timelineOf } from './timeline';

const liveMs = 2_500;
/** Pages of 50 messages that are held at a time, with the newest one. */
const maxPages = 5;
const idOf = ({ id }: Message | ChannelMessage): string => id;

/**
 * The messages of a conversation, oldest first, with what only its channel has. Some
 * pages at a time.
 */
export function useTimeline(thread: Thread) {
  const { api, key } = useWorkspace();
  const contact = thread.contactId ?? '';
  const messages = useLivePages<Message>(
    [...key, 'thread', thread.id, 'messages'],
    (cursor, signal) => api.listThreadMessages({ id: thread.id, cursor }, { signal }),
    { idOf, everyMs: liveMs, maxPages },
  );
  const sent = useLivePages<ChannelMessage>(
    [...key, 'thread', thread.id, 'sent'],
    (cursor, signal) => api.listChannelMessages({ contact, limit: 100, cursor }, { signal }),
    { idOf, everyMs: liveMs, enabled: contact !== '' },
  );
  const oldest = messages.items.at(-1);
  const isFirst = !messages.hasNextPage;
  const fromMs = isFirst ? 0 : (oldest?.createdAt ?? 0);
  const toMs = messages.isAtNewest ? Infinity : (messages.items[0]?.createdAt ?? Infinity);
  const sentFromMs = sent.items.at(-1)?.createdAt ?? 0;
  const isBehind =
    sent.hasNextPage &&
    !sent.isFetchingNextPage &&
    oldest !== undefined &&
    sentFromMs > oldest.createdAt;
  const { fetchNextPage } = sent;
  useEffect(() => {
    if (isBehind) fetchNextPage();
  }, [isBehind, sentFromMs]);
  const entries = useMemo(
    () => timelineOf(messages.items.toReversed(), sent.items.toReversed(), { fromMs, toMs }),
    [messages.items, sent.items, fromMs, toMs],
  );
  const hasOlderSent = isFirst && sent.hasNextPage;
  return {
    messages,
    entries,
    lastId: lastIdOf(messages.items.toReversed()),
    hasOlder: messages.hasNextPage || hasOlderSent,
    fetchOlder: () => (messages.hasNextPage ? messages.fetchNextPage() : sent.fetchNextPage()),
    isFetchingOlder: messages.isFetchingNextPage || sent.isFetchingNextPage,
    /** The message of the channel with this id of the provider. */
    sentAs: (messageId: string) => sent.items.find((one) => one.messageId === messageId),
  };
}
