import { type Command, InvalidArgumentError } from 'commander';

/** `--json` of every command. Errors are printed as one line of JSON too (main.ts). */
export const withJson = (command: Command): Command =>
  command.option('--json', 'print the result as one line of JSON');

/**
 * Options of commands that use the management API. The key selects the organization and
 * the environment.
 */
export const ofKey = (command: Command): Command =>
  withJson(command)
    .option('--env <environment>', 'refuse a key of another environment')
    .option('--org <slug>', 'refuse a key of another organization');

/** Options of commands that concern an organization as a whole. */
export const ofOrganization = (command: Command): Command =>
  withJson(command).option('--org <slug>', 'organization (default: the only one)');

/** Options of lists, which are sorted newest first. */
export const paged = (command: Command): Command =>
  command
    .option('--limit <n>', 'maximum number of rows (default: 20)')
    .option('--cursor <cursor>', 'next page: the cursor that the previous page printed');

/** Headings of `parley --help`: commands are grouped by what they connect to (docs/cli.md). */
export const groups = {
  http: 'Commands that use the HTTP API (PARLEY_URL, PARLEY_API_KEY):',
  database: 'Commands that use the database (DATABASE_URL):',
  local: 'Local commands:',
} as const;

/** Collects the values of an option that may be repeated. */
export const collect = (value: string, values: string[] = []): string[] => [...values, value];

export function wholeSeconds(text: string): number {
  if (!/^\d{1,6}$/.test(text))
    throw new InvalidArgumentError('It must be a whole number of seconds.');
  return Number(text);
}
