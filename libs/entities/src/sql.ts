import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';

/** Collects the parameters of one statement: a value never becomes part of its text. */
export class Sql {
  readonly values: unknown[] = [];

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
}

export interface Statement {
  name?: string;
  text: string;
  values: unknown[];
}

/** So many texts are known, the ones used last; a connection keeps fewer prepared than that (libs/db). */
const maxKnown = 500;
const names = new LRUCache<string, { name: string | undefined }>({ max: maxKnown });

/**
 * A statement gets a name, and is prepared, when it is run a second time: statements that are run once, such as those of a
 * script's filters, would displace those that an application repeats.
 */
export function statement(text: string, values: unknown[]): Statement {
  const known = names.get(text);
  if (known === undefined) {
    names.set(text, { name: undefined });
    return { text, values };
  }
  known.name ??= `ent_${createHash('sha1').update(text).digest('hex').slice(0, 20)}`;
  return { name: known.name, text, values };
}
