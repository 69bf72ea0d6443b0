import type { z } from 'zod';
import type { ErrorDetail } from './http/error';

/** Problems that are listed. A value of a few MiB can have hundreds of thousands, such as unknown fields. */
const maxProblems = 100;

export type Checked<T> = { ok: true; value: T } | { ok: false; problems: ErrorDetail[] };

/** Checks untrusted input. Lists up to 100 problems, each with its path, in the words of this API instead of zod's. */
export function check<S extends z.ZodType>(
  schema: S,
  value: unknown,
  unknownField = 'is not a known field',
): Checked<z.output<S>> {
  const result = schema.safeParse(value, { error: messageOf });
  if (result.success) return { ok: true, value: result.data };
  const listed = (issue: z.core.$ZodIssue, parents: PropertyKey[]): ErrorDetail[] => {
    const path = [...parents, ...issue.path];
    if (issue.code === 'unrecognized_keys')
      return issue.keys.slice(0, maxProblems).map((key) => ({ path: [...path, key].join('.'), message: unknownField }));
    if (issue.code === 'invalid_union' && issue.errors.length > 0)
      return closest(issue.errors).flatMap((inner) => listed(inner, path));
    if (issue.code === 'invalid_key') return issue.issues.flatMap((inner) => listed(inner, path));
    return [{ path: path.join('.'), message: issue.message }];
  };
  const problems = result.error.issues.slice(0, maxProblems).flatMap((issue) => listed(issue, []));
  return { ok: false, problems: problems.slice(0, maxProblems) };
}

/**
 * The alternative of a union that the author probably meant: the one whose problems are nested deepest, and among those
 * the one with the fewest problems.
 */
function closest(alternatives: z.core.$ZodIssue[][]): z.core.$ZodIssue[] {
  const depth = (issues: z.core.$ZodIssue[]) => Math.min(...issues.map((issue) => issue.path.length));
  return [...alternatives].sort((a, b) => depth(b) - depth(a) || a.length - b.length)[0]!;
}

const kinds: Record<string, string> = {
  ...{ string: 'a string', number: 'a number', int: 'a whole number', boolean: 'true or false', null: 'null' },
  ...{ object: 'an object', record: 'an object', array: 'a list' },
  ...{ email: 'an e-mail address', url: 'a URL', base64: 'base64' },
};
const units: Record<string, string> = { string: ' characters', array: ' items' };
const oneOf = (values: readonly unknown[]): string =>
  `must be ${values.length > 1 ? 'one of ' : ''}${values.map((value) => JSON.stringify(value)).join(', ')}`;

/** What is wrong, where the schema itself does not say it. */
function messageOf(issue: z.core.$ZodRawIssue): string {
  if (issue.input === undefined) return 'is required';
  const unit = units[String(issue.origin)] ?? '';
  const verb = unit ? 'have' : 'be';
  switch (issue.code) {
    case 'invalid_type':
      return `must be ${kinds[issue.expected] ?? issue.expected}`;
    case 'invalid_value':
      return oneOf(issue.values);
    case 'invalid_union':
      return Array.isArray(issue.options) ? oneOf(issue.options) : 'is invalid';
    case 'too_small':
      if (unit && issue.minimum === 1) return 'must not be empty';
      return `must ${verb} ${issue.inclusive ? 'at least' : 'more than'} ${issue.minimum}${unit}`;
    case 'too_big':
      return `must ${verb} ${issue.inclusive ? 'at most' : 'less than'} ${issue.maximum}${unit}`;
    case 'invalid_format':
      return kinds[issue.format] ? `must be ${kinds[issue.format]}` : `must match ${issue.pattern}`;
    default:
      return 'is invalid';
  }
}
