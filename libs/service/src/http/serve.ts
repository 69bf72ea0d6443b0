import type { Operation, operations, operationsOf } from '@parley/contracts';
import type { z } from 'zod';
import type { Exchange } from './exchange';
import type { RawJson } from './send-json';
import { type HandlerOf, type Route, type RouteSpec, route } from './route';

type Operations = typeof operations & typeof operationsOf.internal;
/** Null when the handler has already sent the answer, such as MCP's 202 without a body. */
type Answer<O extends Operation> = z.input<O['response']> | RawJson | null;

/** A handler that a service exports: its input and answer have the types of the operation `Id`. */
export type Handler<Id extends keyof Operations> = HandlerOf<
  Operations[Id],
  Answer<Operations[Id]>
>;

/** Sessions are checked by the route itself. */
type SecurityOf<O> = {
  [Id in keyof O]: O[Id] extends { security: infer S extends string }
    ? Exclude<S, 'session'>
    : never;
}[keyof O];
type Guards<O> = Record<SecurityOf<O>, (exchange: Exchange) => void | Promise<void>>;

/**
 * Returns the routes of an app. Takes a handler for each operation, by its id, and a guard for
 * each kind of token that the operations require. Does not compile when a handler or guard is
 * missing or misspelled.
 */
export function serve<O extends Record<string, Operation>>(
  served: O,
  handlers: { [Id in keyof O]: HandlerOf<O[Id], Answer<O[Id]>> },
  ...[guards]: [SecurityOf<O>] extends [never] ? [] : [Guards<O>]
): Route[] {
  return Object.entries(served).map(([id, operation]) => {
    const kind = operation.security === 'session' ? undefined : operation.security;
    const guard = kind && guards?.[kind as SecurityOf<O>];
    if (kind && guard === undefined)
      throw new Error(`${id} has no guard for ${operation.security}`);
    return route<RouteSpec>({ ...operation, guard }, handlers[id] as HandlerOf<RouteSpec>);
  });
}
