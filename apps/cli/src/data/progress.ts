import { io } from '../command-io';
import { note } from '../terminal';

export interface Progress {
  advance(to: number): void;
  stop(message: string): void;
}

const lineEveryMs = 5_000;

/**
 * Shows a progress bar on a terminal, and a line every few seconds elsewhere. `total` is 0 when
 * it is not known.
 */
export async function startProgress(
  message: string,
  total: number,
  quiet = false,
): Promise<Progress> {
  if (quiet) return { advance: () => {}, stop: () => {} };
  const { stderr } = io();
  if (stderr.isTTY && total > 0) {
    const { progress } = await import('@clack/prompts');
    const bar = progress({ max: total, output: stderr, style: 'block' });
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
