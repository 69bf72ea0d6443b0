/**
 * The functions in this folder run inside the engine, not in Node. Each is shipped as its own
 * source text, so it may use only its parameters and the globals of the language. They have no
 * additional rights: a handler that changes them can only request operations from the process
 * outside, which checks each one.
 */
export interface PreludeHost {
  /**
   * Requests an operation of the process outside, with a JSON payload, and returns JSON or bytes.
   * Throws when refused.
   */
  call(kind: string, payload?: unknown, bytes?: ArrayBuffer): unknown;
  /** Sends a request to the service. The answer is a JSON value and, for bodies, bytes. */
  request(
    kind: 'fetch' | 'tool',
    payload: unknown,
    bytes?: ArrayBuffer,
  ): { id: number; answer: Promise<{ value: never; bytes?: ArrayBuffer }> };
  /** Sets the function that the process outside calls for `timer`. */
  on(kind: string, listener: (id: number) => void): void;
  /** Adds globals as platforms do: writable, configurable, not enumerable. */
  define(globals: Record<string, unknown>): void;
  /** Returns a copy of the bytes of an ArrayBuffer or a view, or null for any other value. */
  bytesOf(value: unknown): ArrayBuffer | null;
}

/** The only host function. Text is JSON. A result that begins with `!` is a refusal. */
export type Op = (
  kind: string,
  text?: string,
  bytes?: ArrayBuffer,
) => string | ArrayBuffer | undefined;

export function createHost(op: Op) {
  const { parse, stringify } = JSON;
  const listeners: Record<string, (id: number) => void> = {};
  const waiting = new Map<number, (answer: { value: never; bytes?: ArrayBuffer }) => void>();
  let lastId = 0;

  const host: PreludeHost = {
    call(kind, payload, bytes) {
      const answer = op(kind, payload === undefined ? 'null' : stringify(payload), bytes);
      if (typeof answer !== 'string') return answer;
      if (answer[0] !== '!') return parse(answer);
      const { name, message } = parse(answer.slice(1)) as { name: string; message: string };
      throw new ((globalThis as never)[name] as ErrorConstructor)(message);
    },
    request(kind, payload, bytes) {
      const id = ++lastId;
      host.call(kind, { id, payload }, bytes);
      return { id, answer: new Promise((resolve) => waiting.set(id, resolve)) };
    },
    on(kind, listener) {
      listeners[kind] = listener;
    },
    define(globals) {
      for (const name of Object.keys(globals)) {
        Object.defineProperty(globalThis, name, {
          value: globals[name],
          writable: true,
          configurable: true,
        });
      }
    },
    bytesOf(value) {
      if (value instanceof ArrayBuffer) return value.slice(0);
      if (!ArrayBuffer.isView(value)) return null;
      return value.buffer.slice(
        value.byteOffset,
        value.byteOffset + value.byteLength,
      ) as ArrayBuffer;
    },
  };

  // More than the process outside keeps. A longer text would only take time to convert to JSON.
  const maxChars = 20_000;
  const describeError = (error: unknown): { name?: string; message: string; stack?: string } => {
    if (error === null || typeof error !== 'object')
      return { message: String(error).slice(0, maxChars) };
    const { name, message, stack } = error as Error;
    if (typeof message !== 'string')
      return { message: stringify(error) ?? 'The handler threw an object' };
    return {
      name: String(name).slice(0, maxChars),
      message: message.slice(0, maxChars),
      stack: typeof stack === 'string' ? stack.slice(0, maxChars) : undefined,
    };
  };

  const fail = (error: unknown): void => {
    let described;
    try {
      described = describeError(error);
    } catch {
      described = { message: 'The handler threw something that cannot be described' };
    }
    op('error', stringify(described));
  };

  const succeed = (value: unknown): void => {
    let text;
    try {
      text = value === undefined ? 'null' : stringify(value);
      if (typeof text !== 'string') throw new TypeError(`a ${typeof value} is not JSON`);
    } catch (error) {
      const { message } = describeError(error);
      return fail(new TypeError(`The result must be JSON: ${message}`));
    }
    const refused = op('result', text);
    if (typeof refused === 'string')
      fail(new RangeError((parse(refused.slice(1)) as Error).message));
  };

  return {
    host,
    run(parley: unknown, handler: unknown, args: string, context: string): void {
      const call = handler as (...all: unknown[]) => unknown;
      (async () =>
        call(
          parse(args),
          parse(context),
          parley,
          (globalThis as { fetch?: unknown }).fetch,
        ))().then(succeed, fail);
    },
    deliver(kind: string, id: number, text?: string, bytes?: ArrayBuffer): void {
      if (kind !== 'reply') return listeners[kind]?.(id);
      const resolve = waiting.get(id);
      waiting.delete(id);
      resolve?.({ value: parse(text ?? 'null') as never, bytes });
    },
  };
}
