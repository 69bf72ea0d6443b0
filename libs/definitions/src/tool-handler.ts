import { Script } from 'node:vm';
import type { JsonObject } from '@parley/contracts';
import type { ArgsOf, ToolHandlerContext, ToolHandlerParley } from './handler-types';

/**
 * A function `(args, context, parley, fetch)`. `args` has the type of the JSON Schema `P`. Declared
 * as a method, so that a handler may declare narrower `args`.
 */
export type ToolHandler<P = JsonObject> = {
  handle(
    args: ArgsOf<P>,
    context: ToolHandlerContext,
    parley: ToolHandlerParley,
    fetch: typeof globalThis.fetch,
  ): unknown;
}['handle'];

/**
 * The body of an `async (args, context, parley, fetch) => …` that calls this function. Null if the
 * function has no JavaScript source, because it is built in or bound.
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
