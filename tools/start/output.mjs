/**
 * Output of npm start, npm test and the other tools. Uses only Node's built-in modules, as it
 * runs before npm ci.
 */

const colourful = process.stdout.isTTY && !process.env.NO_COLOR && process.env.TERM !== 'dumb';
const paint = (code) => (text) => (colourful ? `\u001b[${code}m${text}\u001b[0m` : String(text));

export const bold = paint(1);
export const dim = paint(2);
export const red = paint(31);
export const green = paint(32);
export const yellow = paint(33);
/** Colours that distinguish services. Red and yellow are reserved for errors and warnings. */
export const serviceColours = [paint(36), paint(35), paint(34), paint(32), paint(96), paint(95)];

export function print(line = '') {
  process.stdout.write(`${line}\n`);
}

/** A long step prints a line at this interval. */
const progressEveryMs = 10_000;

/**
 * Runs a step and prints its title before and its duration after it. The caller reports a failure.
 */
export async function step(title, work) {
  const startedAt = Date.now();
  const elapsed = () => dim(seconds(Date.now() - startedAt));
  print(`${dim('…')} ${title}`);
  const ticker = setInterval(() => print(`${dim('…')} ${title} ${elapsed()}`), progressEveryMs);
  try {
    const result = await work();
    const outcome = result && typeof result === 'string' ? `: ${result}` : '';
    print(`${green('✓')} ${title}${outcome} ${elapsed()}`);
    return result;
  } finally {
    clearInterval(ticker);
  }
}

export function printWarning(line) {
  print(`${yellow('!')} ${line}`);
}

export function printError(message) {
  process.stderr.write(`${red('✗')} ${message}\n`);
}

/** An expected failure. Its message says what to do, and no stack is printed. */
export class Problem extends Error {}

/** Runs a command's main function. An error is printed and sets exit code 1. */
export async function runMain(main) {
  try {
    process.exitCode = (await main()) ?? process.exitCode ?? 0;
  } catch (error) {
    printError(error instanceof Problem ? error.message : (error?.stack ?? String(error)));
    process.exitCode = 1;
  }
}

export function seconds(ms) {
  return `${(ms / 1000).toFixed(1)} s`;
}
