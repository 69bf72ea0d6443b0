import { type Page, parsePosition } from '@parley/db';
import { usageFailure } from './failure';

export interface PageOptions {
  limit?: string;
  cursor?: string;
}

export function parseLimit(
  text: string | undefined,
  fallback: number,
  name = '--limit',
  least = 1,
): number {
  if (text === undefined) return fallback;
  const limit = /^\d{1,4}$/.test(text) ? Number(text) : -1;
  if (limit < least || limit > 1000)
    throw usageFailure(`${name} must be a number from ${least} to 1000, not "${text}"`);
  return limit;
}

/** Parses `--limit` and `--cursor` of a list whose ids match `idPattern`. */
export function parsePage(options: PageOptions, idPattern: RegExp): Page {
  const limit = parseLimit(options.limit, 20);
  if (options.cursor === undefined) return { limit, before: null };
  const before = parsePosition(options.cursor, idPattern);
  if (before === null)
    throw usageFailure(
      `--cursor must be the cursor that the previous page printed, not "${options.cursor}"`,
    );
  return { limit, before };
}
