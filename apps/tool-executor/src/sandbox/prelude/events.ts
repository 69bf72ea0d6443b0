import type { PreludeHost } from './host';

type Listener = (event: unknown) => void;

/** Installs events, abort signals and DOMException, which `fetch` and its callers need. */
export function installEvents(host: PreludeHost): void {
  class DOMException extends Error {
    constructor(message = '', name = 'Error') {
      super(message);
      Object.defineProperty(this, 'name', { value: name, configurable: true, writable: true });
    }
  }

  class Event {
    target: unknown = null;
    defaultPrevented = false;
    constructor(readonly type: string) {}
    preventDefault(): void {
      this.defaultPrevented = true;
    }
  }

  class EventTarget {
    #listeners = new Map<string, Map<Listener | { handleEvent: Listener }, boolean>>();
    addEventListener(
      type: string,
      listener: Listener,
      options?: { once?: boolean } | boolean,
    ): void {
      const ofType = this.#listeners.get(type) ?? new Map();
      if (!ofType.has(listener))
        ofType.set(listener, typeof options === 'object' && options.once === true);
      this.#listeners.set(type, ofType);
    }
    removeEventListener(type: string, listener: Listener): void {
      this.#listeners.get(type)?.delete(listener);
    }
    dispatchEvent(event: Event): boolean {
      event.target = this;
      (this as unknown as Record<string, Listener | undefined>)[`on${event.type}`]?.(event);
      for (const [listener, isOnce] of [...(this.#listeners.get(event.type) ?? [])]) {
        if (isOnce) this.removeEventListener(event.type, listener as Listener);
        if (typeof listener === 'function') listener.call(this, event);
        else listener.handleEvent(event);
      }
      return !event.defaultPrevented;
    }
  }

  const pass = Symbol('made by AbortController');
  let abort: (signal: AbortSignal, reason: unknown) => void = () => undefined;

  class AbortSignal extends EventTarget {
    onabort: Listener | null = null;
    #aborted = false;
    #reason: unknown = undefined;
    static {
      abort = (signal, reason) => {
        if (signal.#aborted) return;
        signal.#aborted = true;
        signal.#reason =
          reason === undefined
            ? new DOMException('This operation was aborted', 'AbortError')
            : reason;
        signal.dispatchEvent(new Event('abort'));
      };
    }
    constructor(key?: symbol) {
      super();
      if (key !== pass) throw new TypeError('Illegal constructor');
    }
    get aborted(): boolean {
      return this.#aborted;
    }
    get reason(): unknown {
      return this.#reason;
    }
    throwIfAborted(): void {
      if (this.#aborted) throw this.#reason;
    }
    static abort(reason?: unknown): AbortSignal {
      const signal = new AbortSignal(pass);
      abort(signal, reason);
      return signal;
    }
    static timeout(delayMs: number): AbortSignal {
      const signal = new AbortSignal(pass);
      setTimeout(
        () => abort(signal, new DOMException('The operation timed out', 'TimeoutError')),
        delayMs,
      );
      return signal;
    }
    static any(signals: Iterable<AbortSignal>): AbortSignal {
      const any = new AbortSignal(pass);
      for (const signal of signals) {
        if (signal.aborted) abort(any, signal.reason);
        else signal.addEventListener('abort', () => abort(any, signal.reason), { once: true });
      }
      return any;
    }
  }

  class AbortController {
    readonly signal = new AbortSignal(pass);
    abort(reason?: unknown): void {
      abort(this.signal, reason);
    }
  }

  host.define({ DOMException, Event, EventTarget, AbortSignal, AbortController });
}
