import { type Command, InvalidArgumentError } from 'commander';

/** Every command prints its result as JSON on request; its errors come as one JSON line too (main.ts). */
export const withJson = (command: Command): Command => command.option('--json', 'the result as one JSON line');

/** What a command reads and changes in the database belongs to one environment of one organization. */
export const inScope = (command: Command): Command =>
  withJson(command)
    .option('--env <environment>', 'development (default) or production')
    .option('--org <slug>', 'organization; default: the only one, or demo');

/** For commands that belong to an organization as a whole. */
export const ofOrganization = (command: Command): Command =>
  withJson(command).option('--org <slug>', 'organization; default: the only one, or demo');

/** For lists, newest first. */
export const paged = (command: Command): Command =>
  command
    .option('--limit <n>', 'at most so many; default 20')
    .option('--before <position>', 'go on where a list has ended');

/** Headings of `parley --help`: what a command needs decides where it works (docs/cli.md). */
export const groups = {
  http: 'Over HTTP, with an API key (PARLEY_URL, PARLEY_API_KEY):',
  database: 'At the database (DATABASE_URL):',
  local: 'On this machine:',
} as const;

/** An option that may be repeated. */
export const collect = (value: string, values: string[] = []): string[] => [...values, value];

export function wholeSeconds(text: string): number {
  if (!/^\d{1,6}$/.test(text)) throw new InvalidArgumentError('It must be a whole number of seconds.');
  return Number(text);
}
