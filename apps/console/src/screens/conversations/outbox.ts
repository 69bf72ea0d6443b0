import { ParleyApiError } from '@parley/client';
import { messageOf } from '../../api/errors';
import { randomKey } from '../../api/random-key';
import type { Workspace } from '../../api/session';
import { stored } from '../../stored';

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

interface OutboxOptions {
  api: Pick<Workspace['api'], 'addThreadNote' | 'replyToThread'>;
  threadId: string;
  /** The name of what the browser keeps. */
  storedAs: string;
  /** Loads what the thread has now. */
  refresh: () => Promise<void>;
}

/**
 * What is being sent in one thread, one after the other in the order of writing. It survives a
 * reload and a sign-out, except for files, which are too large to be kept.
 */
export class Outbox {
  #items: Outgoing[];
  #isRunning = false;
  /** The own message that was stored after the message that the writer had seen. */
  readonly #storedAfter = new Map<string, string>();
  readonly #listeners = new Set<() => void>();
  readonly #file;

  readonly #api: OutboxOptions['api'];
  readonly #threadId: string;
  readonly #refresh: () => Promise<void>;

  constructor({ api, storedAs, threadId, refresh }: OutboxOptions) {
    this.#api = api;
    this.#threadId = threadId;
    this.#refresh = refresh;
    this.#file = stored(storedAs);
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

  /**
   * Sends what waits. Two replies that were written one after the other are stored in this order.
   */
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

  /**
   * The own replies that were stored since an item was written are messages that its
   * writer has seen.
   */
  #begin({ key, body }: Outgoing): Outgoing {
    let { lastMessageId } = body;
    while (lastMessageId !== undefined && this.#storedAfter.has(lastMessageId))
      lastMessageId = this.#storedAfter.get(lastMessageId);
    this.#change(key, {
      isTried: true,
      body: lastMessageId === undefined ? body : { ...body, lastMessageId },
    });
    return this.#items.find((item) => item.key === key)!;
  }

  async #attempt({
    key,
    kind,
    body,
  }: Outgoing): Promise<'stored' | 'refused' | 'no_answer' | 'signed_out'> {
    try {
      const { id } =
        kind === 'note'
          ? await this.#api.addThreadNote(
              { id: this.#threadId, text: body.text! },
              { idempotencyKey: key },
            )
          : await this.#api.replyToThread({ id: this.#threadId, ...body }, { idempotencyKey: key });
      if (kind === 'reply' && body.lastMessageId !== undefined)
        this.#storedAfter.set(body.lastMessageId, id);
      this.#change(key, { storedId: id });
      await this.#refresh();
      this.discard(key);
      return 'stored';
    } catch (error) {
      if (error instanceof ParleyApiError && error.status === 401) return 'signed_out';
      // Without an answer it may have been stored. The same key is sent until the
      // server says which.
      if (isUncertain(error)) {
        this.#change(key, { isDelayed: true });
        return 'no_answer';
      }
      const isChanged = error instanceof ParleyApiError && error.code === 'thread_changed';
      this.#change(key, { error: messageOf(error), isChanged });
      void this.#refresh();
      return 'refused';
    }
  }
}

/** What was stored by an earlier page. Another version of it may have stored something else. */
function itemsOf(text: string | null): Outgoing[] {
  try {
    const items: unknown = JSON.parse(text ?? '[]');
    return Array.isArray(items)
      ? items.filter((item: Partial<Outgoing>) => item?.key && item.body && item.kind)
      : [];
  } catch {
    return [];
  }
}

const fresh = () => ({
  isTried: false,
  isDelayed: false,
  error: null,
  isChanged: false,
  storedId: null,
});

const isUncertain = (error: unknown): boolean =>
  !(error instanceof ParleyApiError) ||
  error.status === 0 ||
  error.status >= 500 ||
  error.status === 429 ||
  error.code === 'idempotency_in_progress';
