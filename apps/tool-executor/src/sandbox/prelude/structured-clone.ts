import type { PreludeHost } from './host';

/**
 * Installs `structuredClone` for plain data, dates, maps, sets, regular expressions,
 * errors and buffers.
 */
export function installStructuredClone(host: PreludeHost): void {
  const refuse = (what: string): never => {
    const make = (
      globalThis as unknown as { DOMException: new (message: string, name: string) => Error }
    ).DOMException;
    throw new make(`${what} could not be cloned`, 'DataCloneError');
  };
  const errors: Record<string, ErrorConstructor> = {
    EvalError,
    RangeError,
    ReferenceError,
    SyntaxError,
    TypeError,
    URIError,
  };

  const copy = (value: unknown, seen: Map<unknown, unknown>): unknown => {
    if (typeof value === 'function' || typeof value === 'symbol') {
      const text = String(value);
      return refuse(text.length > 100 ? `A ${typeof value}` : text);
    }
    if (typeof value !== 'object' || value === null) return value;
    if (seen.has(value)) return seen.get(value);
    const keep = <Made>(made: Made): Made => {
      seen.set(value, made);
      return made;
    };
    if (value instanceof Date) return keep(new Date(value.getTime()));
    if (value instanceof RegExp) return keep(new RegExp(value.source, value.flags));
    if (value instanceof Boolean || value instanceof Number || value instanceof String)
      return keep(Object(value.valueOf()));
    if (value instanceof ArrayBuffer) return keep(value.slice(0));
    if (ArrayBuffer.isView(value)) {
      const buffer = copy(value.buffer, seen) as ArrayBuffer;
      const length = value instanceof DataView ? value.byteLength : (value as Uint8Array).length;
      return keep(
        new (value.constructor as Uint8ArrayConstructor)(buffer, value.byteOffset, length),
      );
    }
    if (value instanceof Map) {
      const made = keep(new Map());
      for (const [key, item] of [...value]) made.set(copy(key, seen), copy(item, seen));
      return made;
    }
    if (value instanceof Set) {
      const made = keep(new Set());
      for (const item of [...value]) made.add(copy(item, seen));
      return made;
    }
    if (value instanceof Error) {
      const made = keep(new (errors[value.name] ?? Error)(value.message));
      made.stack = value.stack;
      if ('cause' in value) made.cause = copy(value.cause, seen);
      return made;
    }
    if (value instanceof Promise || value instanceof WeakMap || value instanceof WeakSet) {
      return refuse(`#<${value.constructor.name}>`);
    }
    const made = keep(
      (Array.isArray(value) ? new Array(value.length) : {}) as Record<string, unknown>,
    );
    for (const key of Object.keys(value)) {
      const item = copy((value as Record<string, unknown>)[key], seen);
      Object.defineProperty(made, key, {
        value: item,
        writable: true,
        enumerable: true,
        configurable: true,
      });
    }
    return made;
  };
  host.define({ structuredClone: (value: unknown) => copy(value, new Map()) });
}
