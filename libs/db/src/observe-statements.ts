import type pg from 'pg';
import type { Statement } from './statement';

type Client = Pick<pg.ClientBase, 'query'>;

/**
 * Runs a statement with `send`, on this client or on a connection of it. `subject`: the tenant
 * whose rows it may access, or the reason to access rows of several.
 */
export type StatementObserver = <R>(
  client: Client,
  subject: object | string,
  statement: Statement,
  values: readonly unknown[],
  send: (client: Client) => Promise<R>,
) => Promise<R>;

/**
 * The global of a process that creates its observers. Only tests set it
 * (testing/observe-process.ts).
 */
export const observerGlobal = Symbol.for('parley.statementObserver');

/** Returns an observer if the process is observed. */
export const statementObserver = (): StatementObserver | undefined =>
  (globalThis as { [observerGlobal]?: () => StatementObserver })[observerGlobal]?.();
