import { ParleyApiError } from '@parley/client';
import { useEffect, useSyncExternalStore } from 'react';
import { type Workspace, queryClient, messageOf } from '../../api/session';
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
  /** Why it was refused; null while it is being sent. */
  error: string | null;
  /** The contact has written since. */
  isChanged: boolean;
}

const retryMs = 3_000;
const newKey = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');

/** What is being sent in one thread. It survives a reload, except for files, which are too large to be kept. */
class Outbox {
  #items: Outgoing[];
  readonly #running = new Set<string>();
  readonly #listeners = new Set<() => void>();
  readonly #file;

  constructor(
    readonly workspace: Workspace,
    readonly threadId: string,
    personId: string,
  ) {
    this.#file = stored(['outbox', personId, ...workspace.key, threadId].join('.'));
    this.#items = JSON.parse(this.#file.get() ?? '[]') as Outgoing[];
    for (const item of this.#items) if (item.error === null) void this.#run(item.key);
  }

  readonly items = (): Outgoing[] => this.#items;
  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  };

  send(item: Pick<Outgoing, 'kind' | 'body' | 'shown'>): void {
    const key = newKey();
    this.#set([...this.#items, { ...item, key, error: null, isChanged: false }]);
    void this.#run(key);
  }

  /** Sends an item again that was refused, so that nothing was sent. */
  again(key: string, lastMessageId: string | undefined): void {
    const item = this.#items.find((one) => one.key === key);
    if (item === undefined) return;
    this.discard(key);
    this.send({ ...item, body: { ...item.body, lastMessageId } });
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

  async #run(key: string): Promise<void> {
    if (this.#running.has(key)) return;
    this.#running.add(key);
    const { api, key: place } = this.workspace;
    for (;;) {
      const item = this.#items.find((one) => one.key === key);
      if (item === undefined) break;
      const { kind, body } = item;
      try {
        if (kind === 'note') await api.addThreadNote({ id: this.threadId, text: body.text! }, { idempotencyKey: key });
        else await api.replyToThread({ id: this.threadId, ...body }, { idempotencyKey: key });
        await queryClient.invalidateQueries({ queryKey: [...place, 'thread', this.threadId] });
        this.discard(key);
        break;
      } catch (error) {
        // Without an answer it may have been stored. The same key is sent until the server says which.
        const isUncertain =
          !(error instanceof ParleyApiError) || error.status === 0 || error.status >= 500 || error.status === 429;
        if (!isUncertain) {
          const isChanged = error.code === 'thread_changed';
          this.#set(this.#items.map((one) => (one.key === key ? { ...one, error: messageOf(error), isChanged } : one)));
          void queryClient.invalidateQueries({ queryKey: [...place, 'thread', this.threadId] });
          break;
        }
        await new Promise((resolve) => setTimeout(resolve, retryMs));
      }
    }
    this.#running.delete(key);
  }
}

const outboxes = new Map<string, Outbox>();
export function useOutbox(
  workspace: Workspace,
  threadId: string,
  personId: string,
): { outbox: Outbox; items: Outgoing[] } {
  const id = [personId, ...workspace.key, threadId].join();
  let outbox = outboxes.get(id);
  if (outbox === undefined) outboxes.set(id, (outbox = new Outbox(workspace, threadId, personId)));
  const items = useSyncExternalStore(outbox.subscribe, outbox.items);
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
