import { ParleyApiError, ParleyClient, type Retry } from '@parley/client';
import { readStored, store } from './storage';

export interface Settings {
  /** The gateway, such as `https://parley.example`. */
  baseUrl: string;
  /** The publishable key. */
  key: string;
  /** Address on the page's own site that answers with the JWT of a visitor who is signed in there, and else with 204. */
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
}
const identityRetryMs = 5_000;

/** The visitor's session: begins it, begins it again when it has expired, and repeats requests until the server answers. */
export class Session {
  pause: Pause | null = null;
  readonly #settings: Settings;
  readonly #onChange: () => void;
  readonly #stop = new AbortController();
  #client: Promise<ParleyClient> | undefined;

  constructor(settings: Settings, onChange: () => void) {
    this.#settings = settings;
    this.#onChange = onChange;
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
    return { path: ['widget', name], query: { key: this.#settings.key }, signal: this.#stop.signal };
  }

  /** Runs a request in the visitor's session, and in a new one when it has expired. */
  async run<T>(run: (client: ParleyClient) => Promise<T>): Promise<T> {
    for (let attempt = 0; ; attempt += 1) {
      const connecting = (this.#client ??= this.#connect());
      try {
        const answer = await run(await connecting);
        this.resume();
        return answer;
      } catch (error) {
        if (this.#client === connecting) this.#client = undefined;
        if (attempt > 0 || !(error instanceof ParleyApiError) || error.status !== 401) throw error;
      }
    }
  }

  async #connect(): Promise<ParleyClient> {
    const { path, query, signal } = this.to('sessions');
    const identity = await this.#readIdentity();
    const body = {
      identity,
      visitorId: identity === undefined ? readStored('localStorage', this.#visitorKey) : undefined,
    };
    const session = await this.#clientWith('none').request<NewSession>({ method: 'POST', path, query, body, signal });
    if (session.visitorId !== null) store('localStorage', this.#visitorKey, session.visitorId);
    return this.#clientWith(session.token);
  }

  async #readIdentity(): Promise<string | undefined> {
    const { identityUrl } = this.#settings;
    while (identityUrl !== null) {
      const response = await fetch(identityUrl, { signal: this.#stop.signal, cache: 'no-store' }).catch(() => null);
      if (this.#stop.signal.aborted) throw new Error('The chat was closed');
      if (response?.ok) return (await response.text()).trim() || undefined;
      // Without an answer the visitor is not taken for another one.
      if (response !== null && response.status < 500 && response.status !== 429) return undefined;
      this.#wait({ reason: 'unavailable', untilMs: Date.now() + identityRetryMs });
      await new Promise((resolve) => setTimeout(resolve, identityRetryMs));
    }
    return undefined;
  }

  /** Retries without end: the log shows when the next try is. */
  #clientWith(apiKey: string): ParleyClient {
    const onRetry = ({ error, attempt, waitMs }: Retry) => {
      const { key, baseUrl } = this.#settings;
      const reason = error.status === 429 ? 'limit' : error.status === 0 ? 'offline' : 'unavailable';
      this.#wait({ reason, untilMs: Date.now() + waitMs });
      if (reason === 'offline' && attempt === 1)
        console.warn(
          `parley-chat: ${baseUrl} does not answer this page. The publishable key ${key} must exist, and its origins must include ${location.origin}.`,
        );
    };
    return new ParleyClient({
      ...{ apiKey, baseUrl: this.#settings.baseUrl, onRetry, timeoutMs: 30_000 },
      ...{ maxRetries: Infinity, maxWaitMs: Infinity },
    });
  }

  #wait(pause: Pause): void {
    this.pause = pause;
    this.#onChange();
  }

  /** Ends the pause: the server answers. An answer before its end belongs to another request, so the one that waits still does. */
  resume(): void {
    if (this.pause === null || Date.now() < this.pause.untilMs) return;
    this.pause = null;
    this.#onChange();
  }

  get #visitorKey(): string {
    return `parley-chat visitor ${this.#settings.key}`;
  }
}
