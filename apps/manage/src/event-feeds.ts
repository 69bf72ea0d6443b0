import type { Scope } from '@parley/contracts';
import type { Db } from '@parley/db';
import { type FollowedEvent, followEvents } from '@parley/events';

/** Time between two reads of the events of an environment that has streams. */
const pollMs = 250;
/**
 * Events that are kept for the streams of an environment. A stream that is further behind
 * reads them itself.
 */
const maxKept = 1_000;
/** Size of these events, in characters of JSON. */
const maxKeptChars = 4 * 1_048_576;
/**
 * Size of the events that a stream holds while its client reads them slowly; at least one event.
 */
const maxTakenChars = 256 * 1_024;
const pageSize = 200;

/** Payloads above this size are left out. An event of an entity has up to 64 KiB of its data. */
const maxPayloadChars = 128 * 1_024;

export type StreamedEvent = FollowedEvent & { isTruncated?: true };
type KeptEvent = StreamedEvent & { chars: number };

interface Feed {
  /** Events after `from`, up to `position`. */
  kept: KeptEvent[];
  from: string;
  position: string;
  /**
   * Number of times that the database was restored meanwhile: positions from before are unknown.
   */
  restores: number;
  readers: number;
  /** Resolved at the next read that found events, and when the feed ends. */
  next: PromiseWithResolvers<void>;
  isOver: boolean;
}

/**
 * The new events of environments for their streams. Each environment is read once for all streams
 * of this process, so a hundred streams cost as many statements as one.
 */
export function createEventFeeds(db: Db, onError: (error: unknown) => void) {
  const feeds = new Map<string, Promise<Feed>>();

  async function start(scope: Scope, key: string): Promise<Feed> {
    const position = await currentPosition(db, scope);
    const feed: Feed = {
      kept: [],
      from: position,
      position,
      restores: 0,
      readers: 0,
      next: Promise.withResolvers<void>(),
      isOver: false,
    };
    void read(scope, key, feed);
    return feed;
  }

  async function read(scope: Scope, key: string, feed: Feed): Promise<void> {
    for (let isFull = false; ;) {
      if (!isFull) await new Promise((resolve) => setTimeout(resolve, pollMs));
      if (feed.readers === 0) break;
      const page = await followEvents(db, scope, {}, feed.position, pageSize).catch(
        (error: unknown) => {
          onError(error);
          return null;
        },
      );
      isFull = page?.ok === true && page.events.length === pageSize;
      if (page === null) continue;
      const position = page.ok
        ? page.cursor
        : await currentPosition(db, scope).catch(() => feed.position);
      feed.kept = page.ok ? [...feed.kept, ...page.events.map(withSize)] : [];
      if (!page.ok) {
        feed.from = position;
        feed.restores += 1;
      }
      const first = firstKept(feed.kept);
      if (first > 0) {
        feed.from = feed.kept[first - 1]!.cursor;
        feed.kept = feed.kept.slice(first);
      }
      const isNew = !page.ok || position !== feed.position;
      feed.position = position;
      if (!isNew) continue;
      feed.next.resolve();
      feed.next = Promise.withResolvers();
    }
    feed.isOver = true;
    feeds.delete(key);
  }

  return {
    /** Begins to read the events of an environment after `after`, or from now on. */
    async open(scope: Scope, after: string | null, signal: AbortSignal) {
      const key = `${scope.tenant} ${scope.environment}`;
      let feed: Feed;
      do {
        const started = feeds.get(key) ?? start(scope, key);
        feeds.set(key, started);
        feed = await started.catch((error: unknown) => {
          feeds.delete(key);
          throw error;
        });
      } while (feed.isOver);
      // A stream may have ended in the meantime. It is then not counted, as it will not end again.
      if (!signal.aborted) {
        feed.readers += 1;
        signal.addEventListener('abort', () => {
          feed.readers -= 1;
          feed.next.resolve();
          feed.next = Promise.withResolvers();
        });
      }
      const isKnown = after === null || (await followEvents(db, scope, {}, after, 1)).ok;
      let position = isKnown ? (after ?? feed.position) : feed.position;
      let restores = isKnown ? feed.restores : -1;
      return {
        /** The position after the events that `next` has returned. */
        position: () => position,
        /**
         * The next events; `resync` when the position is unknown, after which the next ones are
         * those from now on.
         */
        async next(): Promise<StreamedEvent[] | 'resync'> {
          while (!signal.aborted) {
            if (restores !== feed.restores) {
              restores = feed.restores;
              position = feed.position;
              return 'resync';
            }
            if (isBefore(position, feed.from)) {
              const page = await followEvents(db, scope, {}, position, pageSize);
              if (!page.ok) {
                position = await currentPosition(db, scope);
                return 'resync';
              }
              const taken = firstOf(page.events.map(withSize));
              position = taken.length === page.events.length ? page.cursor : taken.at(-1)!.cursor;
              return taken;
            }
            if (isBefore(position, feed.position)) {
              const from = position;
              const following = feed.kept.filter(({ cursor }) => isBefore(from, cursor));
              const taken = firstOf(following);
              position = taken.length === following.length ? feed.position : taken.at(-1)!.cursor;
              return taken;
            }
            await feed.next.promise;
          }
          return [];
        },
      };
    },
  };
}

/** An event as streams send it: every stream that is slow holds one. */
function withSize(event: FollowedEvent): KeptEvent {
  const chars = JSON.stringify(event.payload).length;
  return chars <= maxPayloadChars
    ? { ...event, chars }
    : { ...event, payload: {}, isTruncated: true, chars: 0 };
}

/** The index of the first event that is kept: the newest ones are, within both limits. */
function firstKept(events: readonly KeptEvent[]): number {
  let leftChars = maxKeptChars;
  const last = events.findLastIndex(({ chars }) => (leftChars -= chars) < 0);
  return Math.max(last + 1, events.length - maxKept);
}

/** The first of these events that a stream takes at once. */
function firstOf(events: readonly KeptEvent[]): StreamedEvent[] {
  let leftChars = maxTakenChars;
  const end = events.findIndex(({ chars }, index) => (leftChars -= chars) < 0 && index > 0);
  return (end === -1 ? events : events.slice(0, end)).map(({ chars: _, ...event }) => event);
}

async function currentPosition(db: Db, scope: Scope): Promise<string> {
  const page = await followEvents(db, scope, {}, null, 1);
  if (!page.ok) throw new Error('The current position of events is unknown');
  return page.cursor;
}

/** Whether a position is before another one: both are `transaction.id`. */
function isBefore(position: string, other: string): boolean {
  const [xid, id] = parts(position);
  const [otherXid, otherId] = parts(other);
  return xid < otherXid || (xid === otherXid && id < otherId);
}

const parts = (position: string) => position.split('.').map(BigInt) as [bigint, bigint];
