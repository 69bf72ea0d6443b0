import { spawn } from 'node:child_process';
import { until } from '@parley/testing';

export interface PseudoTerminal {
  /** The output since the last call of `shows`. */
  readonly output: string;
  /** Waits for a text or a match in the output. Returns the output until then, and clears it. */
  shows(text: string | RegExp): Promise<string>;
  /** Types keys: `\r` is Enter, `\x03` Ctrl-C, `\t` Tab. */
  type(keys: string): void;
  /** Resolves with the exit code of the command. */
  ended: Promise<number | null>;
  kill(): void;
}

const outputLimitMs = 60_000;

/** Runs a command line in a pseudo-terminal (`script` of util-linux). */
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
      await until(() => output, {
        isThere: () => isThere() || isOver,
        limitMs: outputLimitMs,
        everyMs: 20,
      });
      if (!isThere()) throw new Error(`The command ended without the output ${text}:\n${output}`);
      const shown = output;
      output = '';
      return shown;
    },
    type: (keys) => void child.stdin.write(keys),
    ended,
    kill: () => void child.kill('SIGKILL'),
  };
}
