/** What the bootstraps print: short steps, and one clear message when something is wrong. Node built-ins only. */

const colourful = process.stdout.isTTY && !process.env.NO_COLOR && process.env.TERM !== 'dumb';
const paint = (code) => (text) => (colourful ? `\u001b[${code}m${text}\u001b[0m` : String(text));

export const bold = paint(1);
export const dim = paint(2);
export const red = paint(31);
const green = paint(32);
export const yellow = paint(33);
/** Colours to tell services apart; none of them means trouble. */
export const serviceColours = [paint(36), paint(35), paint(34), paint(32), paint(96), paint(95)];

export function say(line = '') {
  process.stdout.write(`${line}\n`);
}

/** A step that takes long says every few seconds that it is still at it. */
const patienceMs = 10_000;

/** Says what is going on, runs it, and says how long it took; a step that fails is left to the caller's message. */
export async function step(title, work) {
  const startedAt = Date.now();
  const sofar = () => dim(seconds(Date.now() - startedAt));
  say(`${dim('…')} ${title}`);
  const ticker = setInterval(() => say(`${dim('…')} ${title} ${sofar()}`), patienceMs);
  try {
    const result = await work();
    const outcome = result && typeof result === 'string' ? `: ${result}` : '';
    say(`${green('✓')} ${title}${outcome} ${sofar()}`);
    return result;
  } finally {
    clearInterval(ticker);
  }
}

export function warn(line) {
  say(`${yellow('!')} ${line}`);
}

export function complain(message) {
  process.stderr.write(`${red('✗')} ${message}\n`);
}

/** An expected failure: its message tells the user what to do, so that no stack trace is shown. */
export class Problem extends Error {}

/** Runs a command's main function; whatever it throws becomes one message and exit code 1. */
export async function runMain(main) {
  try {
    process.exitCode = (await main()) ?? process.exitCode ?? 0;
  } catch (error) {
    complain(error instanceof Problem ? error.message : (error?.stack ?? String(error)));
    process.exitCode = 1;
  }
}

export function seconds(ms) {
  return `${(ms / 1000).toFixed(1)} s`;
}
