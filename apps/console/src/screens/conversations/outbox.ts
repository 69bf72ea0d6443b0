import { ParleyApiError } from '@parley/client';
import { useEffect, useSyncExternalStore } from 'react';
import { randomKey } from '../../api/random-key';
import { type Workspace, queryClient, messageOf } from '../../api/session';
import { stored, storedBelow } from '../../stored';

/** Something that a person sends in a thread. */
export interface Outgoing {
  /** The idempotency key: however often it is sent, it has one effect. */
  key: string;
  kind: 'reply' | 'note';
  body: {
    text?: string;
    file?: { filename: string; data: string };
    template?: { name: string; language: string; components?: { [key: string]: never }[] };
    lastMessageId?: string;
  };
  /** What the list shows until it is stored. */
  shown: string;
  /** It was sent at least once, so its body stays as it is. */
  isTried: boolean;
  /** The last attempt had no answer. */
  isDelayed: boolean;
  /** Why it was refused; null while it is being sent. */
  error: string | null;
  /** Someone has written since. */
  isChanged: boolean;
  /** The id of the message that it has become; null until the server has answered. */
  storedId: string | null;
}
export type NewOutgoing = Pick<Outgoing, 'kind' | 'body' | 'shown'>;

const retryMs = 3_000;

/**
 * What is being sent in one thread, one after the other in the order of writing. It survives a reload and a sign-out, except for
 * files, which are too large to be kept.
 */
class Outbox {
  #items: Outgoing[];
  #isRunning = false;
  /** The own message that was stored after the message that the writer had seen. */
  readonly #storedAfter = new Map<string, string>();
  readonly #listeners = new Set<() => void>();
  readonly #file;

  constructor(
    readonly workspace: Workspace,
    readonly threadId: string,
    personId: string,
  ) {
    this.#file = stored(nameOf(workspace, personId, threadId));
    this.#items = itemsOf(this.#file.get());
  }

  readonly items = (): Outgoing[] => this.#items;
  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  };

  send(item: NewOutgoing): void {
    this.#set([...this.#items, { ...item, ...fresh(), key: randomKey() }]);
    void this.run();
  }

  /** Sends an item again that was refused, so that nothing was sent. */
  again(key: string, lastMessageId: string | undefined): void {
    this.#set(
      this.#items.map((item) =>
        item.key === key
          ? {
              ...item,
              ...fresh(),
              key: randomKey(),
              body: item.kind === 'note' ? item.body : { ...item.body, lastMessageId },
            }
          : item,
      ),
    );
    void this.run();
  }

  discard(key: string): void {
    this.#set(this.#items.filter((item) => item.key !== key));
  }

  #set(items: Outgoing[]): void {
    this.#items = items;
    const kept = items.filter(({ body }) => body.file === undefined);
    this.#file.set(kept.length === 0 ? null : JSON.stringify(kept));
    for (const listener of this.#listeners) listener();
  }

  #change(key: string, changes: Partial<Outgoing>): void {
    this.#set(this.#items.map((item) => (item.key === key ? { ...item, ...changes } : item)));
  }

  /** Sends what waits. Two replies that were written one after the other are stored in this order. */
  async run(): Promise<void> {
    if (this.#isRunning) return;
    this.#isRunning = true;
    try {
      for (;;) {
        const next = this.#items.find(({ error }) => error === null);
        if (next === undefined) return;
        const end = await this.#attempt(next.isTried ? next : this.#begin(next));
        // After the next sign-in it is sent again.
        if (end === 'signed_out') return;
        if (end === 'no_answer') await new Promise((resolve) => setTimeout(resolve, retryMs));
      }
    } finally {
      this.#isRunning = false;
    }
  }

  /** The own replies that were stored since an item was written are messages that its writer has seen. */
  #begin({ key, body }: Outgoing): Outgoing {
    let { lastMessageId } = body;
    while (lastMessageId !== undefined && this.#storedAfter.has(lastMessageId))
      lastMessageId = this.#storedAfter.get(lastMessageId);
    this.#change(key, { isTried: true, body: lastMessageId === undefined ? body : { ...body, lastMessageId } });
    return this.#items.find((item) => item.key === key)!;
  }

  async #attempt({ key, kind, body }: Outgoing): Promise<'stored' | 'refused' | 'no_answer' | 'signed_out'> {
    const { api, key: place } = this.workspace;
    const refresh = () => queryClient.invalidateQueries({ queryKey: [...place, 'thread', this.threadId] });
    try {
      const { id } =
        kind === 'note'
          ? await api.addThreadNote({ id: this.threadId, text: body.text! }, { idempotencyKey: key })
          : await api.replyToThread({ id: this.threadId, ...body }, { idempotencyKey: key });
      if (kind === 'reply' && body.lastMessageId !== undefined) this.#storedAfter.set(body.lastMessageId, id);
      this.#change(key, { storedId: id });
      await refresh();
      this.discard(key);
      return 'stored';
    } catch (error) {
      if (error instanceof ParleyApiError && error.status === 401) return 'signed_out';
      // Without an answer it may have been stored. The same key is sent until the server says which.
      if (isUncertain(error)) {
        this.#change(key, { isDelayed: true });
        return 'no_answer';
      }
      const isChanged = error instanceof ParleyApiError && error.code === 'thread_changed';
      this.#change(key, { error: messageOf(error), isChanged });
      void refresh();
      return 'refused';
    }
  }
}

/** What was stored by an earlier page. Another version of it may have stored something else. */
function itemsOf(text: string | null): Outgoing[] {
  try {
    const items: unknown = JSON.parse(text ?? '[]');
    return Array.isArray(items) ? items.filter((item: Partial<Outgoing>) => item?.key && item.body && item.kind) : [];
  } catch {
    return [];
  }
}

const fresh = () => ({ isTried: false, isDelayed: false, error: null, isChanged: false, storedId: null });

const isUncertain = (error: unknown): boolean =>
  !(error instanceof ParleyApiError) ||
  error.status === 0 ||
  error.status >= 500 ||
  error.status === 429 ||
  error.code === 'idempotency_in_progress';

const outboxes = new Map<string, Outbox>();
function outboxOf(workspace: Workspace, threadId: string, personId: string): Outbox {
  const id = [personId, ...workspace.key, threadId].join();
  let outbox = outboxes.get(id);
  if (outbox === undefined) outboxes.set(id, (outbox = new Outbox(workspace, threadId, personId)));
  return outbox;
}

/** Sends what an earlier page has left in any thread, such as a phone without a connection. */
export function runOutboxes(workspace: Workspace, personId: string): void {
  for (const threadId of storedBelow(nameOf(workspace, personId))) void outboxOf(workspace, threadId, personId).run();
}

const nameOf = (workspace: Workspace, personId: string, ...thread: string[]): string =>
  ['outbox', personId, ...workspace.key, ...thread].join('.');

export function useOutbox(
  workspace: Workspace,
  threadId: string,
  personId: string,
): { outbox: Outbox; items: Outgoing[] } {
  const outbox = outboxOf(workspace, threadId, personId);
  const items = useSyncExternalStore(outbox.subscribe, outbox.items);
  useEffect(() => void outbox.run(), [outbox]);
  useEffect(() => {
    if (items.length === 0) return;
    // Leaving the page would end a request whose file is not kept.
    const hold = (event: BeforeUnloadEvent) =>
      items.some(({ body, error }) => body.file && error === null) && event.preventDefault();
    window.addEventListener('beforeunload', hold);
    return () => window.removeEventListener('beforeunload', hold);
  }, [items]);
  return { outbox, items };
}
