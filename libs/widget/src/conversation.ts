import type { ParleyClient } from '@parley/client';
import { ParleyApiError } from '@parley/client';
import { Session, type Settings } from './session';

/**
 * A message as the log shows it. The object stays the same when the list of the server
 * contains it later.
 */
export interface Entry {
  from: 'visitor' | 'agent' | 'person';
  text: string;
  createdAt: number;
  /** Absent when the message is stored. */
  state?: 'sending' | 'failed';
  /** A message of this page has one for all attempts to send it, so that it is stored once. */
  idempotencyKey?: string;
  /** The turn of a message that was sent. */
  executionId?: string;
}

interface MessagePage {
  data: { id: string; executionId: string; from: Entry['from']; text: string; createdAt: number }[];
  cursor: string;
  hasMore: boolean;
}

const pageSize = 50;
/**
 * Time between two looks for messages of a person: while the chat can be seen, and while it cannot.
 */
const pollMs = { visible: 10_000, hidden: 60_000 };
/** Time without any message after which the chat looks no more until it is opened again. */
const idleMs = 30 * 60_000;

/**
 * The visitor's thread: what was said, what is being written, and why it is waiting. `onChange` is
 * called for each change.
 */
export class Conversation {
  /** An answer is expected. */
  isAnswering = false;
  /** A person has taken the thread over. */
  isWithPerson = false;
  /** The last message got no answer, and may be sent again. */
  hasFailed = false;
  /** The gateway refuses the key or the page. */
  isRefused = false;
  hasEarlier = false;
  /** Whether the log can be seen. Determines how often it is read. */
  isVisible = false;
  readonly #session: Session;
  readonly #onChange: () => void;
  /** Messages that the server has listed, oldest first, by their id. */
  #listed = new Map<string, Entry>();
  /** Messages of this page that no list has contained yet. */
  #unlisted: Entry[] = [];
  /** The text of each step of the answer that is being written. */
  #steps: Entry[] = [];
  #cursor = '';
  #sending = Promise.resolve();
  #isFollowing = false;
  #isRepeated = false;
  /** The turn of the last message that an agent is to answer. */
  #awaited: string | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #activeAtMs = Date.now();

  constructor(settings: Settings, onChange: () => void) {
    this.#session = new Session(settings, onChange, () => this.#forget());
    this.#onChange = onChange;
  }

  /** Why the chat is waiting, and until when; null when the server answers. */
  get pause(): Session['pause'] {
    return this.#session.pause;
  }

  /** Everything that is shown, oldest first. */
  get entries(): Entry[] {
    return [
      ...this.#listed.values(),
      ...this.#unlisted,
      ...this.#steps.filter(({ text }) => text !== ''),
    ];
  }

  /** Reads the thread, and the rest of an answer that is still being written. */
  async start(): Promise<void> {
    this.#activeAtMs = Date.now();
    if (this.#isFollowing) return;
    try {
      await this.#refresh();
      const last = this.entries.at(-1);
      // A message that is still being sent follows its own answer.
      if (last !== undefined && last.state === undefined)
        await this.#follow(last.from === 'visitor');
    } catch (error) {
      if (this.#session.isClosed) return;
      console.warn('parley-chat:', error);
      this.isRefused =
        error instanceof ParleyApiError && (error.status === 401 || error.status === 403);
      this.#onChange();
    } finally {
      this.#poll();
    }
  }

  /** Ends all requests. The object is not used again. */
  close(): void {
    clearTimeout(this.#timer);
    this.#session.close();
  }

  /** Sends a message after those before it. It stays in the log when it cannot be sent. */
  send(text: string): void {
    const entry: Entry = {
      from: 'visitor',
      text: text.trim(),
      createdAt: Date.now(),
      idempotencyKey: randomKey(),
    };
    this.#unlisted.push(entry);
    this.#post(entry);
  }

  /** Sends a message again that could not be sent; without one, the message that got no answer. */
  retry(entry?: Entry): void {
    if (entry !== undefined) return this.#post(entry);
    const last = this.entries.findLast(({ from }) => from === 'visitor');
    if (last !== undefined) this.send(last.text);
  }

  /** Reads the page of messages before the first one. */
  async readEarlier(): Promise<void> {
    const page = await this.#list(this.#cursor);
    const earlier = page.data.reverse().map(toEntry);
    this.#listed = new Map([...earlier, ...this.#listed]);
    this.#keepPosition(page);
  }

  #post(entry: Entry): void {
    entry.state = 'sending';
    this.hasFailed = false;
    this.#activeAtMs = Date.now();
    this.#onChange();
    const { threadKey } = this.#session;
    this.#sending = this.#sending.then(async () => {
      try {
        const { status, executionId } = await this.#session.run<SentMessage>((client) => {
          // It was written to another visitor's thread.
          if (threadKey !== undefined && threadKey !== this.#session.threadKey)
            throw new Error('Another visitor');
          return client.request({
            ...this.#session.to('messages'),
            method: 'POST',
            body: { message: entry.text },
            creates: true,
            idempotencyKey: entry.idempotencyKey,
          });
        });
        delete entry.state;
        entry.executionId = executionId;
        // The list may have had it before the answer came.
        if (this.#isListed(entry)) this.#unlisted = this.#unlisted.filter((one) => one !== entry);
        this.isWithPerson = status === 'stored';
        if (this.isWithPerson) return this.#onChange();
        this.#awaited = executionId;
        void this.#follow(true).catch(() => {});
      } catch {
        entry.state = 'failed';
        this.#onChange();
      }
    });
  }

  /**
   * Shows answers while they are written, until there is none. `isExpected`: one is expected before
   * its first words.
   */
  async #follow(isExpected: boolean): Promise<void> {
    this.#isRepeated = true;
    this.isAnswering ||= isExpected;
    this.#onChange();
    if (this.#isFollowing) return;
    this.#isFollowing = true;
    try {
      while (this.#isRepeated) {
        this.#isRepeated = false;
        await this.#session.run((client) => this.#readAnswer(client));
        if (this.isAnswering) await this.#refresh(() => (this.#steps = []));
      }
      // The turn may have failed before its stream was asked for.
      const last = this.entries.at(-1);
      if (!this.isWithPerson && last?.from === 'visitor' && last.executionId === this.#awaited)
        this.hasFailed = true;
    } finally {
      this.#steps = [];
      this.#isFollowing = this.isAnswering = false;
      this.#poll();
      this.#onChange();
    }
  }

  async #readAnswer(client: ParleyClient): Promise<void> {
    const { path, query, signal } = this.#session.to('stream');
    for await (const { chunk } of client.stream(path, { query, signal })) {
      this.#session.resume();
      this.isAnswering = true;
      const isNext = chunk.type === 'start-step';
      if (chunk.type === 'start') this.#steps = [];
      if (isNext) this.#steps.push({ from: 'agent', text: '', createdAt: Date.now() });
      const step = this.#steps.at(-1);
      if (chunk.type === 'text-delta' && step !== undefined) step.text += chunk.delta;
      if (chunk.type === 'reset-step' && step !== undefined) step.text = '';
      if (chunk.type === 'error' || chunk.type === 'abort') this.hasFailed = true;
      if (chunk.type === 'finish') this.isWithPerson = chunk.finishReason === 'other';
      this.#onChange();
    }
  }

  async #refresh(beforeChange = () => {}): Promise<void> {
    const page = await this.#list();
    const isFirst = this.#listed.size === 0;
    for (const message of page.data.reverse()) {
      if (this.#listed.has(message.id)) continue;
      this.#activeAtMs = Date.now();
      const at =
        message.from === 'visitor'
          ? this.#unlisted.findIndex((entry) => isSame(entry, message))
          : -1;
      const [known] = at === -1 ? [] : this.#unlisted.splice(at, 1);
      delete known?.state;
      this.#listed.set(
        message.id,
        known ? Object.assign(known, { executionId: message.executionId }) : toEntry(message)[1],
      );
    }
    this.isRefused = false;
    if (isFirst) this.#keepPosition(page);
    beforeChange();
    this.#onChange();
  }

  #isListed({ executionId }: Entry): boolean {
    return [...this.#listed.values()].some(
      (listed) => listed.from === 'visitor' && listed.executionId === executionId,
    );
  }

  /** Begins with an empty log, because the thread is another visitor's. */
  #forget(): void {
    this.#listed.clear();
    this.#unlisted = this.#steps = [];
    this.isWithPerson = this.hasFailed = this.hasEarlier = false;
    this.#onChange();
  }

  #keepPosition({ cursor, hasMore }: MessagePage): void {
    this.#cursor = cursor;
    this.hasEarlier = hasMore;
    this.#onChange();
  }

  /** Replies of people, and messages from another device, are in no stream. */
  #poll(): void {
    clearTimeout(this.#timer);
    if (this.#session.isClosed || Date.now() - this.#activeAtMs > idleMs) return;
    const waitMs =
      pollMs[this.isVisible && document.visibilityState === 'visible' ? 'visible' : 'hidden'];
    this.#timer = setTimeout(() => {
      if (this.#isFollowing) return;
      this.#refresh().then(
        () => this.#poll(),
        () => this.#poll(),
      );
    }, waitMs);
  }

  #list(cursor?: string): Promise<MessagePage> {
    const { query, ...request } = this.#session.to('messages');
    return this.#session.run((client) =>
      client.request({ ...request, method: 'GET', query: { ...query, limit: pageSize, cursor } }),
    );
  }
}

interface SentMessage {
  status: string;
  executionId: string;
}

/** Difference of two clocks that is allowed for. */
const clockMs = 60_000;

/**
 * Whether a message of this page is one of the list. The answer that one was stored
 * may have been lost.
 */
function isSame(
  { state, text, executionId, createdAt }: Entry,
  listed: MessagePage['data'][number],
): boolean {
  if (executionId !== undefined) return executionId === listed.executionId;
  return state === 'failed' && text === listed.text && listed.createdAt > createdAt - clockMs;
}

const randomKey = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) =>
    byte.toString(16).padStart(2, '0'),
  ).join('');

const toEntry = ({ id, ...entry }: MessagePage['data'][number]): [string, Entry] => [id, entry];
