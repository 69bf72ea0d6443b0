import { progress } from '@clack/prompts';
import { note } from '../terminal';

export interface Progress {
  advance(to: number): void;
  stop(message: string): void;
}

const lineEveryMs = 5_000;

/** Shows a progress bar on a terminal, and a line every few seconds elsewhere. `total` is 0 when it is not known. */
export function startProgress(message: string, total: number, quiet = false): Progress {
  if (quiet) return { advance: () => {}, stop: () => {} };
  if (process.stderr.isTTY && total > 0) {
    const bar = progress({ max: total, output: process.stderr, style: 'block' });
    bar.start(message);
    let shown = 0;
    return {
      advance(to) {
        bar.advance(to - shown, `${message}: ${to} of ${total}`);
        shown = to;
      },
      stop: (text) => bar.stop(text),
    };
  }
  let printedAt = Date.now();
  return {
    advance(to) {
      if (Date.now() - printedAt < lineEveryMs) return;
      printedAt = Date.now();
      note(`${message}: ${to}${total > 0 ? ` of ${total}` : ''}`);
    },
    stop: note,
  };
}
