import type { IncomingMessage } from 'node:http';
import type { Operation } from '@parley/contracts';
import type { Db } from '@parley/db';

interface Databases {
  db: Db;
  reads?: Db;
}

type AnyHandler = (input: never, context: never) => Promise<unknown>;

/**
 * Returns the handlers of all operations. Those of operations with the word `replica` read from
 * `reads`, unless the request has `Cache-Control: no-cache`: a caller that has just changed
 * something then sees it.
 */
export function readFromReplica<Deps extends Databases, Handlers extends object>(
  operations: Record<keyof Handlers, Operation>,
  handlersOf: (deps: Deps) => Handlers,
  deps: Deps,
): Handlers {
  const { reads = deps.db } = deps;
  const handlers = handlersOf(deps);
  if (reads === deps.db) return handlers;
  const ofReplica = handlersOf({ ...deps, db: reads });
  const choose = (id: keyof Handlers) => {
    const [fresh, recent] = [handlers[id], ofReplica[id]] as [AnyHandler, AnyHandler];
    return (input: never, context: { request: IncomingMessage }) =>
      (isFresh(context.request) ? fresh : recent)(input, context as never);
  };
  const marked = (Object.keys(handlers) as (keyof Handlers)[]).filter(
    (id) => operations[id].replica,
  );
  return { ...handlers, ...Object.fromEntries(marked.map((id) => [id, choose(id)])) };
}

const isFresh = ({ headers }: IncomingMessage): boolean =>
  /\bno-cache\b/i.test(headers['cache-control'] ?? '');
