import { existsSync, readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';

/**
 * Sets the variables of a `.env` file that the environment does not have. A variable is not set either when the environment
 * has its NAME_FILE, or NAME for a NAME_FILE, because services refuse both together.
 * @returns {string | null} one line that says which variables were read; null without a file or without variables
 */
export function readDotEnv(file, environment = process.env) {
  if (!existsSync(file)) return null;
  const names = { used: [], kept: [] };
  for (const [name, value] of Object.entries(parseEnv(readFileSync(file, 'utf8'))).sort()) {
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
