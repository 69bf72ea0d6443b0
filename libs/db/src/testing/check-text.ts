import type { Statement } from '../statement';

/** Of an upsert, what is worked out where the row is. */
const upsert = /\bdo update\s+(set\b.*?)(?=\breturning\b|$)/gis;
const update = /\bupdate\s+(?:only\s+)?\w+\s+(?:as\s+)?(?:\w+\s+)?set\b(.*?)(?=\breturning\b|\binsert into\b|$)/gis;
const notImmutable = /\b(now|clock_timestamp|statement_timestamp|nextval|random|time_id)\s*\(/i;

/**
 * Throws when a text does something that an engine that spreads tables over machines does not do, or does wrongly
 * (docs/scaling.md).
 */
export function checkText({ name, text }: Pick<Statement, 'name' | 'text'>): void {
  const refuse = (problem: string): never => {
    throw new Error(`The statement ${name} ${problem}`);
  };
  if (/\bctid\b/i.test(text)) refuse('names rows by ctid, which several partitions have');
  if (/\bpg_notify\b|^\s*(listen|notify)\b/i.test(text)) refuse('notifies, which stays on one machine');
  for (const [, set = ''] of text.matchAll(update))
    if (/\bclock_timestamp\s*\(/i.test(set)) refuse('calls clock_timestamp() in an update');
  for (const [, set = ''] of text.matchAll(upsert)) {
    const called = notImmutable.exec(set)?.[1];
    if (called !== undefined) refuse(`calls ${called}() in "do update": take it from excluded`);
  }
}
