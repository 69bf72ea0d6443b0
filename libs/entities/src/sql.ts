import { createHash } from 'node:crypto';
import type { RowOf, Statement, Tenant } from '@parley/db';
import { LRUCache } from 'lru-cache';

/** Collects the parameters of one statement: a value never becomes part of its text. */
export class Sql {
  readonly values: unknown[];
  /** The placeholder of the tenant, which each table of the statement is compared with. */
  readonly tenant = '$1::int';

  constructor({ tenant }: Tenant) {
    this.values = [tenant];
  }

  /** A placeholder for this value, with its type: `$3::text`. */
  param(value: unknown, type: string): string {
    return `$${this.values.push(value)}::${type}`;
  }

  ints(values: readonly number[]): string {
    return this.param(values, 'int[]');
  }

  /** Byte strings as an array literal, made with half the work of the driver's own conversion. */
  byteas(values: readonly Buffer[]): string {
    return this.param(`{${values.map((value) => `"\\\\x${value.toString('hex')}"`).join(',')}}`, 'bytea[]');
  }

  /** Builds the statement of a text that holds these placeholders. Texts of one kind share a `name`. */
  build<R extends Statement['row']>(name: string, text: string, row: R): Built<RowOf<R>> {
    return { statement: known(name, text, row), values: this.values };
  }
}

/** A statement whose text was built for a call, and the values of its parameters. */
export interface Built<T> {
  statement: Statement<T>;
  values: unknown[];
}

/** So many texts are known, the ones used last; a connection keeps fewer prepared than that (libs/db). */
const maxKnown = 500;
const statements = new LRUCache<string, Statement<never>>({ max: maxKnown });

/**
 * A statement is prepared when it is run a second time: statements that are run once, such as those of a script's filters,
 * would displace those that an application repeats.
 */
function known(name: string, text: string, row: Statement['row']): Statement<never> {
  const earlier = statements.get(text);
  if (earlier?.preparedAs !== undefined) return earlier;
  const preparedAs = earlier && `ent_${createHash('sha1').update(text).digest('hex').slice(0, 20)}`;
  const statement = { name, text, row, preparedAs };
  statements.set(text, statement);
  return statement;
}
