import { existsSync, readFileSync } from 'node:fs';
import { TextDecoder, parseEnv } from 'node:util';
import { Problem } from './output.mjs';

/**
 * Sets the variables of a `.env` file that the environment does not have. A variable is not set
 * either when the environment has its NAME_FILE, or NAME for a NAME_FILE, because services
 * refuse both together.
 * @returns {string | null} one line that says which variables were read; null without a file or
 *   without variables
 */
export function readDotEnv(file, environment = process.env) {
  if (!existsSync(file)) return null;
  const names = { used: [], kept: [] };
  for (const [name, value] of Object.entries(parseEnv(readText(file))).sort()) {
    if (!value) continue;
    const other = name.endsWith('_FILE') ? name.slice(0, -'_FILE'.length) : `${name}_FILE`;
    const isGiven = Boolean(environment[name] || environment[other]) && !names.used.includes(other);
    if (!isGiven) environment[name] = value;
    names[isGiven ? 'kept' : 'used'].push(name);
  }
  if (names.used.length + names.kept.length === 0) return null;
  const used = names.used.length > 0 ? `.env sets ${names.used.join(', ')}` : '.env sets nothing';
  return names.kept.length > 0
    ? `${used}; the environment already has ${names.kept.join(', ')}`
    : used;
}

/** Reads a text in UTF-8, without a byte order mark, which would be a part of the first name. */
function readText(file) {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(file));
    if (!text.includes('\0')) return text;
  } catch (error) {
    if (error.code !== 'ERR_ENCODING_INVALID_ENCODED_DATA') throw error;
  }
  throw new Problem('.env is not in UTF-8. Save it in UTF-8.');
}
