import type { IncomingMessage } from 'node:http';
import type { Operation, operations, operationsOf } from '@parley/contracts';
import type { z } from 'zod';
import type { RawJson } from './respond';
import { type HandlerOf, type Route, type RouteSpec, route } from './route';

type Operations = typeof operations & typeof operationsOf.internal;
/** Null when the handler has answered by itself, such as MCP's 202. */
type Answer<O extends Operation> = z.input<O['response']> | RawJson | null;

/** What answers the operation of this id. */
export type Handler<Id extends keyof Operations> = HandlerOf<Operations[Id], Answer<Operations[Id]>>;

type SecurityOf<O> = { [Id in keyof O]: O[Id] extends { security: infer S extends string } ? S : never }[keyof O];
type Guards<O> = Record<SecurityOf<O>, (request: IncomingMessage) => void>;

/**
 * The routes of an app: a handler for each operation that it serves, by id, and a guard for each token that they ask
 * for. One that is missing or misspelt does not compile.
 */
export function serve<O extends Record<string, Operation>>(
  served: O,
  handlers: { [Id in keyof O]: HandlerOf<O[Id], Answer<O[Id]>> },
  ...[guards]: [SecurityOf<O>] extends [never] ? [] : [Guards<O>]
): Route[] {
  return Object.entries(served).map(([id, operation]) => {
    const guard = operation.security && guards?.[operation.security as SecurityOf<O>];
    if (operation.security && guard === undefined) throw new Error(`${id} has no guard for ${operation.security}`);
    return route<RouteSpec>({ ...operation, guard }, handlers[id] as HandlerOf<RouteSpec>);
  });
}
