import type { PreludeHost } from './host';

/**
 * Installs URL and URLSearchParams. The process outside parses addresses, with Node's own parser.
 */
export function installUrl(host: PreludeHost): void {
  type Fields = Record<string, string>;
  type Pair = [string, string];
  const settable = [
    'protocol',
    'username',
    'password',
    'host',
    'hostname',
    'port',
    'pathname',
    'search',
    'hash',
  ];

  class URLSearchParams {
    #pairs: Pair[] = [];
    #changed: ((text: string) => void) | undefined;
    static follow(params: URLSearchParams, changed: (text: string) => void): void {
      params.#changed = changed;
    }
    static reset(params: URLSearchParams, text: string): void {
      params.#pairs = host.call('parse-search', text) as Pair[];
    }
    constructor(init: unknown = '') {
      if (typeof init !== 'object' || init === null) URLSearchParams.reset(this, String(init));
      else {
        const pairs =
          Symbol.iterator in init ? [...(init as Iterable<Pair>)] : Object.entries(init);
        this.#pairs = pairs.map(([name, value]) => [String(name), String(value)]);
      }
    }
    #edit(pairs: Pair[]): void {
      this.#pairs = pairs;
      this.#changed?.(this.toString());
    }
    get size(): number {
      return this.#pairs.length;
    }
    append(name: string, value: string): void {
      this.#edit([...this.#pairs, [String(name), String(value)]]);
    }
    delete(name: string, value?: string): void {
      this.#edit(
        this.#pairs.filter(
          (pair) => pair[0] !== name || (value !== undefined && pair[1] !== value),
        ),
      );
    }
    get(name: string): string | null {
      return this.#pairs.find((pair) => pair[0] === name)?.[1] ?? null;
    }
    getAll(name: string): string[] {
      return this.#pairs.filter((pair) => pair[0] === name).map((pair) => pair[1]);
    }
    has(name: string, value?: string): boolean {
      return this.#pairs.some(
        (pair) => pair[0] === name && (value === undefined || pair[1] === value),
      );
    }
    set(name: string, value: string): void {
      const first = this.#pairs.findIndex((pair) => pair[0] === name);
      if (first === -1) return this.append(name, value);
      const kept = this.#pairs.filter((pair, index) => pair[0] !== name || index === first);
      this.#edit(kept.map((pair) => (pair[0] === name ? [pair[0], String(value)] : pair)));
    }
    sort(): void {
      this.#edit(
        [...this.#pairs].sort((one, other) => (one[0] < other[0] ? -1 : one[0] > other[0] ? 1 : 0)),
      );
    }
    forEach(visit: (value: string, name: string, all: URLSearchParams) => void): void {
      for (const [name, value] of this.#pairs) visit(value, name, this);
    }
    *entries(): IterableIterator<Pair> {
      for (const [name, value] of this.#pairs) yield [name, value];
    }
    *keys(): IterableIterator<string> {
      for (const [name] of this.#pairs) yield name;
    }
    *values(): IterableIterator<string> {
      for (const [, value] of this.#pairs) yield value;
    }
    [Symbol.iterator](): IterableIterator<Pair> {
      return this.entries();
    }
    toString(): string {
      return host.call('format-search', this.#pairs) as string;
    }
  }

  class URL {
    #fields: Fields;
    #params: URLSearchParams | undefined;
    static read(url: URL, name: string): string {
      return url.#fields[name] ?? '';
    }
    static write(url: URL, name: string, value: string): void {
      url.#fields = host.call('set-url', [url.#fields.href, name, value]) as Fields;
      if (url.#params && name !== 'hash')
        URLSearchParams.reset(url.#params, url.#fields.search ?? '');
    }
    constructor(url: unknown, base?: unknown) {
      const text = String(url);
      const fields = host.call('url', base === undefined ? [text] : [text, String(base)]);
      // A text is not cut: it may contain a secret, which would no longer be recognized.
      if (fields === null)
        throw new TypeError(text.length > 200 ? 'Invalid URL' : `Invalid URL: ${text}`);
      this.#fields = fields as Fields;
    }
    static canParse(url: unknown, base?: unknown): boolean {
      return URL.parse(url, base) !== null;
    }
    static parse(url: unknown, base?: unknown): URL | null {
      try {
        return new URL(url, base);
      } catch {
        return null;
      }
    }
    get origin(): string {
      return this.#fields.origin ?? '';
    }
    get searchParams(): URLSearchParams {
      if (this.#params === undefined) {
        this.#params = new URLSearchParams(this.#fields.search);
        URLSearchParams.follow(this.#params, (text) => {
          this.#fields = host.call('set-url', [this.#fields.href, 'search', text]) as Fields;
        });
      }
      return this.#params;
    }
    toString(): string {
      return this.#fields.href ?? '';
    }
    toJSON(): string {
      return this.toString();
    }
  }
  for (const name of settable) {
    Object.defineProperty(URL.prototype, name, {
      configurable: true,
      enumerable: true,
      get(this: URL) {
        return URL.read(this, name);
      },
      set(this: URL, value: unknown) {
        URL.write(this, name, String(value));
      },
    });
  }
  Object.defineProperty(URL.prototype, 'href', {
    configurable: true,
    enumerable: true,
    get(this: URL) {
      return URL.read(this, 'href');
    },
    set(this: URL, value: unknown) {
      const fields = host.call('url', [String(value)]) as Fields | null;
      if (fields === null) throw new TypeError('Invalid URL');
      URL.write(this, 'href', String(value));
    },
  });

  host.define({ URL, URLSearchParams });
}
