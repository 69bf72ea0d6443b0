import type { z } from 'zod';
import type { ErrorDetail } from '../http/error';
import { type ResourceKind, type ResourceSet, definitionSchemas } from '../http/sync';

type Definition<K extends ResourceKind> = NonNullable<ResourceSet[K]>[number];

export type ParsedDefinition<K extends ResourceKind> =
  { ok: true; definition: Definition<K> } | { ok: false; problems: ErrorDetail[] };

/** Checks the shape of one definition. References to other definitions are checked by a push (libs/resources). */
export function parseDefinition<K extends ResourceKind>(kind: K, value: unknown): ParsedDefinition<K> {
  const result = definitionSchemas[kind].safeParse(value, { reportInput: true });
  if (result.success) return { ok: true, definition: result.data as Definition<K> };
  return { ok: false, problems: result.error.issues.flatMap((issue) => describe(issue, [])) };
}

function describe(issue: z.core.$ZodIssue, prefix: PropertyKey[]): ErrorDetail[] {
  const path = [...prefix, ...issue.path];
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => ({ path: [...path, key].join('.'), message: 'is not a field of this definition' }));
  }
  if (issue.code === 'invalid_union' && issue.errors.length > 0) {
    return closest(issue.errors).flatMap((inner) => describe(inner, path));
  }
  if (issue.code === 'invalid_type' && issue.input === undefined) {
    return [{ path: path.join('.'), message: 'is required' }];
  }
  return [{ path: path.join('.'), message: issue.message.replace(/^Invalid input: e/, 'E') }];
}

/**
 * The alternative of a union that the author probably meant: the one whose problems are nested deepest, and among those
 * the one with the fewest problems.
 */
function closest(alternatives: z.core.$ZodIssue[][]): z.core.$ZodIssue[] {
  const depth = (issues: z.core.$ZodIssue[]) => Math.min(...issues.map((issue) => issue.path.length));
  return [...alternatives].sort((a, b) => depth(b) - depth(a) || a.length - b.length)[0]!;
}
