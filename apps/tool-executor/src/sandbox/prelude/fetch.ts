import type { PreludeHost } from './host';

/**
 * Installs the part of the fetch API that tools use. The service sends the requests, through
 * its guarded fetch.
 */
export function installFetch(host: PreludeHost): void {
  type Pair = [string, string];
  type Init = {
    method?: string;
    headers?: unknown;
    body?: unknown;
    signal?: AbortSignal;
    redirect?: string;
  };

  class Headers {
    #values = new Map<string, string>();
    constructor(init?: unknown) {
      if (typeof init !== 'object' || init === null) return;
      const pairs = Symbol.iterator in init ? [...(init as Iterable<Pair>)] : Object.entries(init);
      for (const [name, value] of pairs) this.append(name, value);
    }
    append(name: string, value: unknown): void {
      const key = String(name).toLowerCase();
      const old = this.#values.get(key);
      this.#values.set(key, old === undefined ? String(value) : `${old}, ${value}`);
    }
    delete(name: string): void {
      this.#values.delete(String(name).toLowerCase());
    }
    get(name: string): string | null {
      return this.#values.get(String(name).toLowerCase()) ?? null;
    }
    has(name: string): boolean {
      return this.#values.has(String(name).toLowerCase());
    }
    set(name: string, value: unknown): void {
      this.#values.set(String(name).toLowerCase(), String(value));
    }
    forEach(visit: (value: string, name: string, all: Headers) => void): void {
      for (const [name, value] of this) visit(value, name, this);
    }
    entries(): IterableIterator<Pair> {
      return [...this.#values].sort(([one], [other]) => (one < other ? -1 : 1))[Symbol.iterator]();
    }
    *keys(): IterableIterator<string> {
      for (const [name] of this) yield name;
    }
    *values(): IterableIterator<string> {
      for (const [, value] of this) yield value;
    }
    [Symbol.iterator](): IterableIterator<Pair> {
      return this.entries();
    }
  }

  const toBody = (body: unknown): { bytes?: ArrayBuffer; type?: string } => {
    if (body === undefined || body === null) return {};
    const bytes = host.bytesOf(body);
    if (bytes !== null) return { bytes };
    const isForm = body instanceof URLSearchParams;
    return {
      bytes: new TextEncoder().encode(String(body)).buffer as ArrayBuffer,
      type: isForm ? 'application/x-www-form-urlencoded;charset=UTF-8' : 'text/plain;charset=UTF-8',
    };
  };

  class Response {
    readonly status: number;
    readonly statusText: string;
    readonly headers: Headers;
    readonly url: string;
    readonly redirected: boolean;
    readonly type = 'basic';
    #bytes: ArrayBuffer;
    #used = false;
    constructor(
      body?: unknown,
      init: { status?: number; statusText?: string; headers?: unknown } = {},
    ) {
      const meta = init as { url?: string; redirected?: boolean };
      this.#bytes = toBody(body).bytes ?? new ArrayBuffer(0);
      this.status = init.status ?? 200;
      this.statusText = init.statusText ?? '';
      this.headers = new Headers(init.headers);
      this.url = meta.url ?? '';
      this.redirected = meta.redirected ?? false;
    }
    get ok(): boolean {
      return this.status >= 200 && this.status < 300;
    }
    get bodyUsed(): boolean {
      return this.#used;
    }
    async arrayBuffer(): Promise<ArrayBuffer> {
      if (this.#used) throw new TypeError('Body is unusable: it has already been read');
      this.#used = true;
      return this.#bytes;
    }
    async bytes(): Promise<Uint8Array> {
      return new Uint8Array(await this.arrayBuffer());
    }
    async text(): Promise<string> {
      return new TextDecoder().decode(await this.arrayBuffer());
    }
    async json(): Promise<unknown> {
      return JSON.parse(await this.text());
    }
    clone(): Response {
      if (this.#used) throw new TypeError('Body is unusable: it has already been read');
      return new Response(this.#bytes, this);
    }
  }

  class Request {
    readonly url: string;
    readonly init: Init;
    constructor(input: unknown, init: Init = {}) {
      this.url = input instanceof Request ? input.url : String(input);
      this.init = input instanceof Request ? { ...input.init, ...init } : init;
    }
    get method(): string {
      return (this.init.method ?? 'GET').toUpperCase();
    }
  }

  const fetch = async (input: unknown, options?: Init): Promise<Response> => {
    const { url, init, method } = new Request(input, options);
    const { signal } = init;
    signal?.throwIfAborted();
    const headers = new Headers(init.headers);
    const { bytes, type } = toBody(init.body);
    if (bytes && (method === 'GET' || method === 'HEAD'))
      throw new TypeError('A GET or HEAD request has no body');
    if (type !== undefined && !headers.has('content-type')) headers.set('content-type', type);
    const request = { url, method, headers: [...headers], redirect: init.redirect };
    // Created here, where the handler is still on the stack, so that the error has the
    // line of the handler.
    const failed = new TypeError();
    const { id, answer } = host.request('fetch', request, bytes);
    const aborted = new Promise<never>((_resolve, reject) => {
      signal?.addEventListener(
        'abort',
        () => {
          host.call('cancel', id);
          reject(signal.reason as Error);
        },
        { once: true },
      );
    });
    const { value, bytes: body } = await Promise.race([answer, aborted]);
    const got = value as {
      ok: boolean;
      message: string;
      status: number;
      statusText: string;
      headers: Pair[];
    };
    if (!got.ok) throw Object.assign(failed, { message: `fetch failed: ${got.message}` });
    return new Response(body, got);
  };

  host.define({ Headers, Request, Response, fetch });
}
