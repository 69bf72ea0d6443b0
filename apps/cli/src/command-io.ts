import { AsyncLocalStorage } from 'node:async_hooks';
import { resolve } from 'node:path';
import type { Readable, Writable } from 'node:stream';

/** What a command reads and writes besides files, the network and the database. */
export interface CommandIo {
  /** Arguments after the name of the program. */
  readonly args: readonly string[];
  /** Environment variables. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The working directory. Paths of arguments are relative to it. */
  readonly cwd: string;
  readonly stdin: Readable & { isTTY?: boolean };
  readonly stdout: Output;
  readonly stderr: Output;
  /** The status of a command that throws nothing. */
  exitCode: number;
}

/** A stream. The other members are those of a terminal. */
export type Output = Writable & { isTTY?: boolean; columns?: number };

/** Members are read when they are used: reading `process.stdin` opens it. */
export const processIo: CommandIo = {
  args: process.argv.slice(2),
  env: process.env,
  get cwd() {
    return process.cwd();
  },
  get stdin() {
    return process.stdin;
  },
  get stdout() {
    return process.stdout;
  },
  get stderr() {
    return process.stderr;
  },
  exitCode: 0,
};

/**
 * Functions far below a command print a line or read a variable. They find the streams and
 * variables of their command here, also when several commands run in one process at the same time.
 */
const current = new AsyncLocalStorage<CommandIo>();

/** Returns what the running command uses; outside of a command, what the process has. */
export const io = (): CommandIo => current.getStore() ?? processIo;

export const withIo = <T>(given: CommandIo, work: () => T): T => current.run(given, work);

/** The absolute path of a path that the user gave. */
export const pathOf = (path: string): string => resolve(io().cwd, path);
