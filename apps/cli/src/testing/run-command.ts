import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable, Writable } from 'node:stream';
import { runProgram } from '../run-program';

export interface RunOptions {
  /**
   * The command has only these variables, PATH, and a folder of its own for what
   * `parley login` stores.
   */
  env?: Record<string, string>;
  /** Standard input, which ends after this text. */
  input?: string;
  /** The working directory. */
  cwd: string;
  /**
   * Whether the streams report that they are a terminal. A test that types on one uses a
   * pseudo-terminal.
   */
  isTerminal?: boolean;
}

export interface CommandResult {
  exitCode: number;
  stdout: string;
  stderr: string;
}

/** Runs a command in the process of the test. */
export async function runCommand(args: string[], options: RunOptions): Promise<CommandResult> {
  const { env, input = '', cwd, isTerminal = false } = options;
  const stdin = Readable.from([Buffer.from(input)], { objectMode: false });
  const stdout = collect();
  const stderr = collect();
  const exitCode = await runProgram({
    args,
    env: variablesOf(cwd, env),
    cwd,
    stdin: Object.assign(stdin, { isTTY: isTerminal }),
    stdout: Object.assign(stdout.stream, { isTTY: isTerminal }),
    stderr: Object.assign(stderr.stream, { isTTY: isTerminal }),
    exitCode: 0,
  });
  return { exitCode, stdout: stdout.text(), stderr: stderr.text() };
}

/** The environment of a command: nothing of the test's own, except where programs are found. */
export const variablesOf = (
  cwd: string,
  env: Record<string, string> = {},
): Record<string, string | undefined> => ({
  PATH: process.env.PATH,
  XDG_CONFIG_HOME: cwd,
  ...env,
});

function collect(): { stream: Writable; text: () => string } {
  const chunks: Buffer[] = [];
  const stream = new Writable({
    write(chunk: Buffer, _encoding, done) {
      chunks.push(chunk);
      done();
    },
  });
  return { stream, text: () => Buffer.concat(chunks).toString() };
}

type Run = (args: string[], options: RunOptions) => Promise<CommandResult>;
type FolderOptions = Omit<RunOptions, 'cwd'>;

export interface Cli {
  /** The working directory of each run. */
  folder: string;
  parley(args: string[], options?: FolderOptions): Promise<CommandResult>;
  /** Returns the output of a run, and throws when it fails. */
  succeed(args: string[], options?: FolderOptions): Promise<string>;
  remove(): void;
}

/** A new folder, and commands in it. */
export function openCli(run: Run = runCommand): Cli {
  const folder = mkdtempSync(join(tmpdir(), 'parley-cli-'));
  const parley: Cli['parley'] = (args, options) => run(args, { ...options, cwd: folder });
  return {
    folder,
    parley,
    async succeed(args, options) {
      const { exitCode, stdout, stderr } = await parley(args, options);
      if (exitCode !== 0) throw new Error(`parley ${args.join(' ')}: ${exitCode} ${stderr}`);
      return stdout.trim();
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}
