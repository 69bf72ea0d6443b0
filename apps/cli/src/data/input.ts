import { readFileSync } from 'node:fs';
import type { JsonObject } from '@parley/contracts';
import { usageFailure } from '../failure';

/** JSON as it is given on the command line: the text itself, `@file`, or `-` for the standard input. */
export function parseObject(text: string, name: string): JsonObject {
  const source = text === '-' ? readFileSync(0, 'utf8') : text.startsWith('@') ? readText(text.slice(1), name) : text;
  let value: unknown;
  try {
    value = JSON.parse(source);
  } catch (error) {
    throw usageFailure(`${name}: this is not JSON: ${(error as Error).message}`);
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw usageFailure(`${name}: this must be a JSON object`);
  return value as JsonObject;
}

function readText(file: string, name: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    throw usageFailure(`${name}: cannot read ${file}`);
  }
}

/** `--limit` of the HTTP interface. */
export function parsePageLimit(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const limit = /^\d{1,3}$/.test(text) ? Number(text) : 0;
  if (limit < 1 || limit > 100) throw usageFailure(`--limit wants a number from 1 to 100, not "${text}"`);
  return limit;
}
