import { type Page, parsePosition } from '@parley/db';
import { usageFailure } from './failure';

export interface PageOptions {
  limit?: string;
  before?: string;
}

/** An execution's number: a bigint of PostgreSQL. */
export const executionIdPattern = /^[0-8]?\d{1,18}$/;

export function parseLimit(text: string | undefined, otherwise: number, name = '--limit', least = 1): number {
  if (text === undefined) return otherwise;
  const limit = /^\d{1,4}$/.test(text) ? Number(text) : -1;
  if (limit < least || limit > 1000) throw usageFailure(`${name} wants a number from ${least} to 1000, not "${text}"`);
  return limit;
}

/** The options of a list; `idPattern` is what its ids look like. */
export function parsePage(options: PageOptions, idPattern: RegExp): Page {
  const limit = parseLimit(options.limit, 20);
  if (options.before === undefined) return { limit, before: null };
  const before = parsePosition(options.before, idPattern);
  if (before === null) throw usageFailure(`--before wants what a list has ended with, not "${options.before}"`);
  return { limit, before };
}
