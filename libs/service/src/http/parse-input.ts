import type { z } from 'zod';
import { check, detailText } from '@parley/contracts';
import { badRequest } from './errors';

/**
 * Parses untrusted input. Throws a 400 whose message is the first problem and whose details list up
 * to 100 problems.
 */
export function parseInput<S extends z.ZodType>(
  schema: S,
  value: unknown,
  place: 'body' | 'query' | 'params',
): z.output<S> {
  const checked = check(schema, value);
  if (checked.ok) return checked.value;
  const message =
    value === undefined ? `A JSON ${place} is required` : detailText(checked.problems[0]!);
  throw badRequest(message, checked.problems, `invalid_${place}`);
}
