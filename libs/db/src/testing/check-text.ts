import type { Statement } from '../statement';

/** The assignments of an upsert, which a distributed database computes on the node of the row. */
const upsert = /\bdo update\s+(set\b.*?)(?=\breturning\b|$)/gis;
const update =
  /\bupdate\s+(?:only\s+)?\w+\s+(?:as\s+)?(?:\w+\s+)?set\b(.*?)(?=\breturning\b|\binsert into\b|$)/gis;
const notImmutable = /\b(now|clock_timestamp|statement_timestamp|nextval|random|time_id)\s*\(/i;

/**
 * Throws when a statement uses something that a distributed PostgreSQL does not support or executes
 * incorrectly (docs/scaling.md).
 */
export function checkText({ name, text }: Pick<Statement, 'name' | 'text'>): void {
  const refuse = (problem: string): never => {
    throw new Error(`The statement ${name} ${problem}`);
  };
  if (/\bctid\b/i.test(text))
    refuse('identifies rows by ctid, which is not unique over partitions');
  if (/\bpg_notify\b|^\s*(listen|notify)\b/i.test(text))
    refuse('uses LISTEN or NOTIFY, which reaches only one node');
  for (const [, set = ''] of text.matchAll(update))
    if (/\bclock_timestamp\s*\(/i.test(set)) refuse('calls clock_timestamp() in an update');
  for (const [, set = ''] of text.matchAll(upsert)) {
    const called = notImmutable.exec(set)?.[1];
    if (called !== undefined) refuse(`calls ${called}() in "do update": take it from excluded`);
  }
}
