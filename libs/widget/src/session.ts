import { ParleyApiError, ParleyClient, type Retry } from '@parley/client';
import { readStored, store } from './storage';

export interface Settings {
  /** The gateway, such as `https://parley.example`. */
  baseUrl: string;
  /** The publishable key. */
  key: string;
  /**
   * Address on the page's own site that answers with the JWT of a visitor who is signed in there,
   * and with 204 when no one is.
   */
  identityUrl: string | null;
}

/** Why the chat waits, and when it tries again. */
export interface Pause {
  reason: 'offline' | 'limit' | 'unavailable';
  untilMs: number;
}

interface NewSession {
  token: string;
  visitorId: string | null;
  threadKey: string;
}
const identityRetryMs = 5_000;
const identityTimeoutMs = 10_000;

/**
 * The visitor's session: begins it, begins it again when it has expired, and repeats requests until
 * the server answers.
 */
export class Session {
  pause: Pause | null = null;
  /** Names the visitor's thread; undefined before the first session. */
  threadKey: string | undefined;
  readonly #settings: Settings;
  readonly #onChange: () => void;
  readonly #onOtherVisitor: () => void;
  readonly #stop = new AbortController();
  #client: Promise<ParleyClient> | undefined;
  #visitorId: string | undefined;
  #running = 0;

  /**
   * `onOtherVisitor` is called when a new session belongs to another visitor, who has signed in or
   * out on the site.
   */
  constructor(settings: Settings, onChange: () => void, onOtherVisitor: () => void) {
    this.#settings = settings;
    this.#onChange = onChange;
    this.#onOtherVisitor = onOtherVisitor;
  }

  get isClosed(): boolean {
    return this.#stop.signal.aborted;
  }

  /** Ends all requests. */
  close(): void {
    this.#stop.abort();
  }

  /** The request to one of the paths of visitors. */
  to(name: 'sessions' | 'messages' | 'stream') {
    return {
      path: ['widget', name],
      query: { key: this.#settings.key },
      signal: this.#stop.signal,
    };
  }

  /** Runs a request in the visitor's session, and in a new one when it has expired. */
  async run<T>(run: (client: ParleyClient) => Promise<T>): Promise<T> {
    this.#running += 1;
    try {
      for (let attempt = 0; ; attempt += 1) {
        const client = await this.#connected();
        try {
          const answer = await run(client);
          this.resume();
          return answer;
        } catch (error) {
          if (!(error instanceof ParleyApiError) || error.status !== 401) throw error;
          this.#client = undefined;
          if (attempt > 0) throw error;
        }
      }
    } finally {
      this.#running -= 1;
      if (this.#running === 0) this.#endPause();
    }
  }

  async #connected(): Promise<ParleyClient> {
    const connecting = (this.#client ??= this.#connect());
    try {
      return await connecting;
    } catch (error) {
      if (this.#client === connecting) this.#client = undefined;
      throw error;
    }
  }

  async #connect(): Promise<ParleyClient> {
    const { key, baseUrl } = this.#settings;
    if (key === '' || baseUrl === '')
      throw new ParleyApiError(401, { error: 'The chat has no key', code: 'missing_key' });
    const { path, query, signal } = this.to('sessions');
    const identity = await this.#readIdentity();
    const body = {
      identity,
      visitorId:
        identity === undefined
          ? (this.#visitorId ?? readStored('localStorage', this.#visitorKey))
          : undefined,
    };
    const session = await this.#clientWith('none').request<NewSession>({
      method: 'POST',
      path,
      query,
      body,
      signal,
    });
    if (session.visitorId !== null) {
      this.#visitorId = session.visitorId;
      store('localStorage', this.#visitorKey, session.visitorId);
    }
    const isOther = this.threadKey !== undefined && this.threadKey !== session.threadKey;
    this.threadKey = session.threadKey;
    if (isOther) this.#onOtherVisitor();
    return this.#clientWith(session.token);
  }

  async #readIdentity(): Promise<string | undefined> {
    const { identityUrl } = this.#settings;
    while (identityUrl !== null) {
      const signal = AbortSignal.any([this.#stop.signal, AbortSignal.timeout(identityTimeoutMs)]);
      const response = await fetch(identityUrl, { signal, cache: 'no-store' }).catch(() => null);
      const text = response?.ok ? await response.text().catch(() => null) : null;
      if (this.#stop.signal.aborted) throw new Error('The chat was closed');
      if (text !== null) return text.trim() || undefined;
      // Without an answer the visitor is not taken for another one.
      console.warn(
        `parley-chat: ${identityUrl} answered ${response?.status ?? 'nothing'} instead of 200 or 204`,
      );
      this.#wait({ reason: 'unavailable', untilMs: Date.now() + identityRetryMs });
      await this.#sleep(identityRetryMs);
    }
    return undefined;
  }

  /** Retries without end: the log shows when the next try is. */
  #clientWith(apiKey: string): ParleyClient {
    const onRetry = ({ error, attempt, waitMs }: Retry) => {
      const { key, baseUrl } = this.#settings;
      // Browsers hide the answer to a refused origin, so it is the same as none.
      const isOffline = error.status === 0 && !navigator.onLine;
      const reason = error.status === 429 ? 'limit' : isOffline ? 'offline' : 'unavailable';
      this.#wait({ reason, untilMs: Date.now() + waitMs });
      if (error.status === 0 && !isOffline && attempt === 1)
        console.warn(
          `parley-chat: ${baseUrl} does not answer this page. The publishable key ${key} must exist, and its origins must include ${location.origin}.`,
        );
    };
    return new ParleyClient({
      apiKey,
      baseUrl: this.#settings.baseUrl,
      onRetry,
      timeoutMs: 30_000,
      maxRetries: Infinity,
      maxWaitMs: Infinity,
    });
  }

  #wait(pause: Pause): void {
    this.pause = pause;
    this.#onChange();
  }

  /**
   * Ends the pause: the server answers. An answer before that time came for another request; this
   * one is still waiting.
   */
  resume(): void {
    if (this.pause !== null && Date.now() >= this.pause.untilMs) this.#endPause();
  }

  #endPause(): void {
    if (this.pause === null) return;
    this.pause = null;
    this.#onChange();
  }

  #sleep(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      const stop = () => {
        clearTimeout(timer);
        resolve();
      };
      this.#stop.signal.addEventListener('abort', stop, { once: true });
    });
  }

  get #visitorKey(): string {
    return `parley-chat visitor ${this.#settings.key}`;
  }
}
