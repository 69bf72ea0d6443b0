import { createHash } from 'node:crypto';
import { type RowOf, type Statement, type Values, unprepared } from '@parley/db';
import { LRUCache } from 'lru-cache';

/** Collects the parameters of one statement, so that no value becomes part of its text. */
export class Sql {
  readonly values: Record<string, unknown> = {};
  /** The parameter of the tenant. Every table of the statement must be compared with it. */
  readonly tenant = '$tenant::int';
  private count = 0;

  /** Adds a value and returns its parameter with the type: `$p3::text`. */
  param(value: unknown, type: string): string {
    this.count += 1;
    const name = `p${this.count}`;
    this.values[name] = value;
    return `$${name}::${type}`;
  }

  ints(values: readonly number[]): string {
    return this.param(values, 'int[]');
  }

  byteas(values: readonly Buffer[]): string {
    return this.param(arrayLiteral(values.map(byteaElement)), 'bytea[]');
  }

  /**
   * Builds the statement for a text with these parameters. Texts of the same kind share a `name`.
   */
  build<R extends Statement['row']>(
    name: string,
    text: string,
    row: R,
    { isLong = false } = {},
  ): Built<RowOf<R>> {
    return { statement: cachedStatement(name, text, row, isLong), values: this.values };
  }
}

/**
 * An array of elements that need no quotes as the text of a parameter. The driver's own conversion
 * takes twice as long.
 */
export const arrayLiteral = (elements: readonly (number | string)[]): string =>
  `{${elements.join()}}`;

export const byteaElement = (value: Buffer): string => `"\\\\x${value.toString('hex')}"`;

/** A statement whose text was built for a call, and the values of its parameters. */
export interface Built<T> {
  statement: Statement<T>;
  values: Values;
}

/** Number of cached texts. A connection keeps fewer prepared statements than that (libs/db). */
const maxCached = 500;
const statements = new LRUCache<string, Statement<never>>({ max: maxCached });

/**
 * The statement for a text, which is prepared from its second run on. Preparing statements that run
 * only once would evict those that applications repeat.
 */
function cachedStatement(
  name: string,
  text: string,
  row: Statement['row'],
  isLong: boolean,
): Statement<never> {
  const cached = statements.get(text);
  if (cached?.preparedAs !== undefined) return cached;
  const preparedAs = cached && `ent_${createHash('sha1').update(text).digest('hex').slice(0, 20)}`;
  const statement = { ...unprepared(name, text, row), preparedAs, isLong } as Statement<never>;
  statements.set(text, statement);
  return statement;
}
