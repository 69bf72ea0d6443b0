import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { io } from './command-io';
import { Failure } from './failure';

/**
 * The checkout that this bundle was built in, or that contains the working directory; null for an
 * installed package elsewhere.
 */
export function findCheckout(): string | null {
  const parents = [resolve(__dirname, '../../..')];
  for (let folder = io().cwd; parents.at(-1) !== folder; folder = dirname(folder))
    parents.push(folder);
  return parents.find((folder) => existsSync(join(folder, 'tools', 'start.mjs'))) ?? null;
}

/**
 * Runs a script of `tools/` with options of the same names. What it writes to stderr becomes the
 * message of a Failure when its status is not 0.
 */
export async function runScript(
  script: string,
  options: object,
  values: string[] = [],
): Promise<void> {
  const checkout = findCheckout();
  if (checkout === null)
    throw new Failure(
      'This command is about the stack of npm start. Run it in a checkout of Parley',
    );
  const flags = Object.entries(options).flatMap(([name, value]: [string, unknown]) =>
    value === undefined || value === false
      ? []
      : value === true
        ? [`--${name}`]
        : [`--${name}=${String(value)}`],
  );
  const child = spawn(
    process.execPath,
    [join(checkout, 'tools', script), ...flags, '--', ...values],
    {
      stdio: ['inherit', 'inherit', 'pipe'],
    },
  );
  process.on('SIGINT', () => {}); // the terminal sends it to the script too, which then ends
  let printed = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (printed += text));
  const status = await new Promise<number>((end, fail) => {
    child.once('error', fail);
    child.once('close', (code) => end(code ?? 1));
  });
  if (status !== 0)
    throw new Failure(
      stripVTControlCharacters(printed).replace(/^✗ /, '').trim() || `${script} failed`,
    );
}
