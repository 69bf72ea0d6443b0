import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Statement } from '../statement';

/**
 * The tenant whose rows a statement may access, or the reason to access rows of several tenants.
 */
export type Subject = { tenant?: number } | string;

/** A statement that a test has run. */
export interface StatementNote {
  name: string;
  /** Why it was run across tenants. */
  reason?: string;
  text: string;
  /**
   * The parameters that had the number of the tenant, from 1. Empty for statements
   * without a tenant.
   */
  tenantAt?: number[];
}

/**
 * The same for texts that are composed alike: the numbers of parameters and the lengths of lists do
 * not matter. `in ($4, $5, $6)` and `in ($2)` have one shape.
 */
export function shapeOf(text: string): string {
  return text
    .replace(/\$\d+/g, '$')
    .replace(/\d+/g, '0')
    .replace(/(\$[\w:[\]]*)(?:,\s*\1)+/g, '$1')
    .replace(/(\(\$[^()]*\))(?:,\s*\1)+/g, '$1');
}

/**
 * Appends each statement to a file of `folder`, once for each shape of its text and each reason.
 */
export function createNotes(folder: string) {
  const noted = new Set<string>();
  return (
    subject: Subject,
    { name, text, preparedAs }: Statement,
    values: readonly unknown[],
  ): void => {
    const reason = typeof subject === 'string' ? subject : undefined;
    const shape = preparedAs === undefined ? shapeOf(text) : '';
    const key = `${name}\n${reason}\n${shape}`;
    if (noted.has(key)) return;
    noted.add(key);
    const note: StatementNote = { name, reason, text, tenantAt: tenantAt(subject, values) };
    appendFileSync(join(folder, `${process.pid}.jsonl`), `${JSON.stringify(note)}\n`);
  };
}

function tenantAt(subject: Subject, values: readonly unknown[]): number[] | undefined {
  if (typeof subject === 'string') return undefined;
  return values.flatMap((value, at) =>
    value !== undefined && value === subject.tenant ? [at + 1] : [],
  );
}
