import { createHash } from 'node:crypto';

/** Collects the parameters of one statement: a value never becomes part of its text. */
export class Sql {
  readonly values: unknown[] = [];

  /** A placeholder for this value, with its type: `$3::text`. */
  param(value: unknown, type: string): string {
    return `$${this.values.push(value)}::${type}`;
  }
}

export interface Statement {
  name?: string;
  text: string;
  values: unknown[];
}

/**
 * Every connection keeps what it has prepared for good, so only so many shapes get a name: the ones seen first, which
 * are the ones that an application uses. The others are planned each time.
 */
const maxPrepared = 400;
const names = new Map<string, string>();

export function statement(text: string, values: unknown[]): Statement {
  let name = names.get(text);
  if (name === undefined && names.size < maxPrepared) {
    name = `ent_${createHash('sha1').update(text).digest('hex').slice(0, 20)}`;
    names.set(text, name);
  }
  return name === undefined ? { text, values } : { name, text, values };
}

/** A PostgreSQL array literal of byte strings: half the work of the driver's own conversion. */
export const byteaArray = (values: readonly Buffer[]): string =>
  `{${values.map((value) => `"\\\\x${value.toString('hex')}"`).join(',')}}`;
