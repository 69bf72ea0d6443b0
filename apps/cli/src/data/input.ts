import { readFileSync } from 'node:fs';
import type { JsonObject } from '@parley/contracts';
import { usageFailure } from '../failure';

/** Parses a JSON object given on the command line: as text, as `@file`, or as `-` for standard input. */
export function parseObject(text: string, name: string): JsonObject {
  const source = text === '-' ? readFileSync(0, 'utf8') : text.startsWith('@') ? readText(text.slice(1), name) : text;
  let value: unknown;
  try {
    value = JSON.parse(source);
  } catch (error) {
    throw usageFailure(`${name} must be JSON: ${(error as Error).message}`);
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw usageFailure(`${name} must be a JSON object, such as {"total": 12}`);
  return value as JsonObject;
}

function readText(file: string, name: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    throw usageFailure(`${name}: file ${file} cannot be read`);
  }
}

/** Parses `--limit` of commands that use the Data API, which returns at most 100 entities per page. */
export function parsePageLimit(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const limit = /^\d{1,3}$/.test(text) ? Number(text) : 0;
  if (limit < 1 || limit > 100) throw usageFailure(`--limit must be a number from 1 to 100, not "${text}"`);
  return limit;
}
