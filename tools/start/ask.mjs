import { createInterface } from 'node:readline';

export const canAsk = () => Boolean(process.stdin.isTTY && process.stdout.isTTY);

/**
 * Asks a question on the terminal. Enter is the default; Ctrl-C and Ctrl-D are no.
 * @returns {Promise<boolean>}
 */
export function ask(question, { byDefault = false } = {}) {
  return new Promise((resolve) => {
    const lines = createInterface({ input: process.stdin, output: process.stdout });
    const end = (answer) => {
      resolve(answer);
      lines.close();
    };
    lines.on('SIGINT', () => {
      process.stdout.write('\n');
      end(false);
    });
    lines.once('close', () => resolve(false));
    lines.question(`${question} ${byDefault ? '[Y/n]' : '[y/N]'} `, (text) => {
      const answer = text.trim().toLowerCase();
      end(answer === '' ? byDefault : answer === 'y' || answer === 'yes');
    });
  });
}
