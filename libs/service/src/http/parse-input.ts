import type { z } from 'zod';
import { type ErrorDetail, detailText } from '@parley/contracts';
import { badRequest } from './errors';

/** Parses untrusted input. Throws a 400 whose message is the first problem and whose details list all problems. */
export function parseInput<S extends z.ZodType>(
  schema: S,
  value: unknown,
  place: 'body' | 'query' | 'params',
): z.output<S> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const details = result.error.issues.map(toDetail);
  const first = details[0] ?? { path: '', message: 'is invalid' };
  throw badRequest(
    value === undefined ? `A JSON ${place} is required` : detailText(first),
    details,
    `invalid_${place}`,
  );
}

const toDetail = (issue: z.core.$ZodIssue): ErrorDetail => ({
  path: issue.path.map(String).join('.'),
  message: issue.message,
});
