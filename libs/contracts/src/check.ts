import type { z } from 'zod';
import type { ErrorDetail } from './http/error';

export type Checked<T> = { ok: true; value: T } | { ok: false; problems: ErrorDetail[] };

/**
 * Checks untrusted input. Lists at most `maxProblems` problems, each with its path, in the
 * words of this API instead of zod's: a value of a few MiB can have hundreds of thousands, such
 * as unknown fields.
 */
export function check<S extends z.ZodType>(
  schema: S,
  value: unknown,
  maxProblems = 100,
): Checked<z.output<S>> {
  const result = schema.safeParse(value, { error: messageOf });
  if (result.success) return { ok: true, value: result.data };
  const issues = result.error.issues.slice(0, maxProblems);
  // A text that is no list is not also too long, or too short, for one.
  const mistyped = new Set(
    issues.filter(({ code }) => code === 'invalid_type').map(({ path }) => path.join('.')),
  );
  const problems = issues
    .filter(({ code, path }) => code === 'invalid_type' || !mistyped.has(path.join('.')))
    .flatMap((issue) => listed(issue, [], maxProblems));
  return { ok: false, problems: problems.slice(0, maxProblems) };
}

const invalid = 'is invalid';
const unknownField = 'is not a known field';

function listed(issue: z.core.$ZodIssue, parents: PropertyKey[], max: number): ErrorDetail[] {
  const at = [...parents, ...issue.path];
  const path = at.join('.');
  if (issue.code === 'unrecognized_keys')
    return issue.keys
      .slice(0, max)
      .map((key) => ({ path: [...at, key].join('.'), message: unknownField }));
  if (issue.code === 'invalid_key')
    return issue.issues.map(({ message }) => ({ path, message: `has a name that ${message}` }));
  if (issue.code !== 'invalid_union' || issue.errors.length === 0 || issue.message !== invalid)
    return [{ path, message: issue.message }];
  const near = issue.errors.filter((alternative) => kindIn(alternative) === undefined);
  if (near.length > 0) return closest(near, max).flatMap((inner) => listed(inner, at, max));
  return [{ path, message: `must be ${[...new Set(issue.errors.map(kindIn))].join(' or ')}` }];
}

/** What an alternative of a union must be, if the value is something else altogether. */
const kindIn = ([issue]: z.core.$ZodIssue[]): string | undefined =>
  issue!.path.length > 0 ? undefined : /^must be (.*)/.exec(issue!.message)?.[1];

/**
 * The alternative of a union that the author probably meant, of those that are of the kind of the
 * value: the one whose problems are nested deepest, and among those the one with the fewest. It has
 * at most `max` of them.
 */
function closest(alternatives: z.core.$ZodIssue[][], max: number): z.core.$ZodIssue[] {
  const depth = (one: z.core.$ZodIssue[]) =>
    one.reduce((least, { path }) => Math.min(least, path.length), Infinity);
  return alternatives
    .toSorted((a, b) => depth(b) - depth(a) || a.length - b.length)[0]!
    .slice(0, max);
}

const kinds: Record<string, string> = {
  string: 'a string',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  object: 'an object',
  record: 'an object',
  array: 'a list',
  email: 'an e-mail address',
  url: 'a URL',
  base64: 'base64',
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
      if (!Array.isArray(issue.options)) return invalid;
      return Object.hasOwn(Object(issue.input), String(issue.discriminator))
        ? oneOf(issue.options)
        : 'is required';
    case 'too_small':
      if (unit && issue.minimum === 1) return 'must not be empty';
      return `must ${verb} ${issue.inclusive ? 'at least' : 'more than'} ${issue.minimum}${unit}`;
    case 'too_big':
      return `must ${verb} ${issue.inclusive ? 'at most' : 'less than'} ${issue.maximum}${unit}`;
    case 'invalid_format':
      return kinds[issue.format] ? `must be ${kinds[issue.format]}` : invalid;
    default:
      return invalid;
  }
}
