import { spawn } from 'node:child_process';
import { until } from '@parley/testing';

export interface PseudoTerminal {
  /** What it has shown since it was last read. */
  readonly output: string;
  /** Waits until the text, or one that fits, has been shown, and gives what was shown until then. */
  shows(text: string | RegExp): Promise<string>;
  /** Keys: `\r` is Enter, `\x03` Ctrl-C, `\t` Tab. */
  type(keys: string): void;
  /** The command's own status. */
  ended: Promise<number | null>;
  kill(): void;
}

const patienceMs = 60_000;

/** Runs a command line in a terminal that is none, as a person would see it (script of util-linux). */
export function openPseudoTerminal(
  line: string,
  { cwd, env }: { cwd: string; env: Record<string, string | undefined> },
): PseudoTerminal {
  const child = spawn('script', ['-qefc', `stty cols 100 rows 30; ${line}`, '/dev/null'], {
    cwd,
    env: { TERM: 'xterm-256color', SHELL: '/bin/sh', ...env },
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (output += text));
  let isOver = false;
  const ended = new Promise<number | null>((end) =>
    child.once('close', (code) => {
      isOver = true;
      end(code);
    }),
  );
  return {
    get output() {
      return output;
    },
    async shows(text) {
      const isThere = () => (typeof text === 'string' ? output.includes(text) : text.test(output));
      await until(() => output, { isThere: () => isThere() || isOver, limitMs: patienceMs, everyMs: 20 });
      if (!isThere()) throw new Error(`It ended without showing ${text}:\n${output}`);
      const shown = output;
      output = '';
      return shown;
    },
    type: (keys) => void child.stdin.write(keys),
    ended,
    kill: () => void child.kill('SIGKILL'),
  };
}
