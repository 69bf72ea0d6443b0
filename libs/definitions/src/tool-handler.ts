import { Script } from 'node:vm';
import type { JsonObject } from '@parley/contracts';

type ToolCaller = (args?: JsonObject) => Promise<unknown>;

/** The tools that a handler may call, such as `parley.entity.query({ … })`. They run with the permissions of its caller. */
export interface ToolHandlerParley {
  entity: Record<'query' | 'get' | 'create' | 'update' | 'delete', ToolCaller>;
  [namespace: string]: Record<string, ToolCaller>;
}

/** A function `(args, context, parley, fetch)`. Declared as a method, so that a handler may declare narrower `args`. */
export type ToolHandler = {
  handle(args: JsonObject, context: JsonObject, parley: ToolHandlerParley, fetch: typeof globalThis.fetch): unknown;
}['handle'];

/**
 * The body of an `async (args, context, parley, fetch) => …` that calls this function. Null if the function has no
 * JavaScript source, because it is built in or bound.
 */
export function handlerCodeOf(handler: (...args: never[]) => unknown): string | null {
  const source = handler.toString();
  // The source of a method, `async handler(args) { … }`, is not an expression by itself.
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
