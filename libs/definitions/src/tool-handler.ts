import { Script } from 'node:vm';
import type { JsonObject } from '@parley/contracts';

type ToolCaller = (args?: JsonObject) => Promise<unknown>;

/** Tools that a handler may call, with the permissions of its own caller: `parley.entity.query({ … })`. */
export interface ToolHandlerParley {
  entity: Record<'query' | 'get' | 'create' | 'update' | 'delete', ToolCaller>;
  [namespace: string]: Record<string, ToolCaller>;
}

/** A method, so that a handler may narrow its arguments to what its `parameters` say. */
export type ToolHandler = {
  handle(args: JsonObject, context: JsonObject, parley: ToolHandlerParley, fetch: typeof globalThis.fetch): unknown;
}['handle'];

/**
 * The body of `async (args, context, parley, fetch) => …` that runs this function; null when the function has no
 * source of its own.
 */
export function handlerCodeOf(handler: (...args: never[]) => unknown): string | null {
  const source = handler.toString();
  // A method's source is no expression by itself: `async handler(args) { … }`.
  const expression = [source, `Object.values({ ${source} })[0]`].find(isExpression);
  return expression === undefined ? null : `return (${expression})(args, context, parley, fetch);`;
}

function isExpression(text: string): boolean {
  try {
    new Script(`(${text})`);
    return true;
  } catch {
    return false;
  }
}
