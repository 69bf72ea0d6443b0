import type { z } from 'zod';
import { type ErrorDetail, detailText } from '@parley/contracts';
import { badRequest } from './errors';

/** Problems that one answer lists. A body of a few MiB can have hundreds of thousands, such as unknown fields. */
const maxDetails = 100;

/** Parses untrusted input. Throws a 400 whose message is the first problem and whose details list up to 100 problems. */
export function parseInput<S extends z.ZodType>(
  schema: S,
  value: unknown,
  place: 'body' | 'query' | 'params',
): z.output<S> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const details = result.error.issues.slice(0, maxDetails).flatMap(toDetails).slice(0, maxDetails);
  const first = details[0] ?? { path: '', message: 'is invalid' };
  throw badRequest(
    value === undefined ? `A JSON ${place} is required` : detailText(first),
    details,
    `invalid_${place}`,
  );
}

function toDetails(issue: z.core.$ZodIssue): ErrorDetail[] {
  const pathOf = (more: string[] = []) => [...issue.path.map(String), ...more].join('.');
  if (issue.code !== 'unrecognized_keys') return [{ path: pathOf(), message: issue.message }];
  return issue.keys.slice(0, maxDetails).map((key) => ({ path: pathOf([key]), message: 'is not a known field' }));
}
