import { text } from 'node:stream/consumers';
import type { JsonObject } from '@parley/contracts';
import { io, pathOf } from '../command-io';
import { usageFailure } from '../failure';
import { readTextFile } from '../read-text-file';

/**
 * Parses a JSON object given on the command line: as text, as `@file`, or as `-` for
 * standard input.
 */
export async function parseObject(given: string, name: string): Promise<JsonObject> {
  const source = await readSource(given, name);
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

async function readSource(given: string, name: string): Promise<string> {
  if (given === '-') return text(io().stdin);
  return given.startsWith('@') ? readText(given.slice(1), name) : given;
}

function readText(path: string, name: string): string {
  const file = readTextFile(pathOf(path));
  if (!file.ok) throw usageFailure(`${name}: file ${path} ${file.problem}`);
  return file.text;
}

/**
 * Parses `--limit` of commands that use the Data API, which returns at most 100 entities per page.
 */
export function parsePageLimit(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const limit = /^\d{1,3}$/.test(text) ? Number(text) : 0;
  if (limit < 1 || limit > 100)
    throw usageFailure(`--limit must be a number from 1 to 100, not "${text}"`);
  return limit;
}
