import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';

/** The progress of a long command, in a file beside the data, from which another run resumes. */
export interface Checkpoint<T> {
  read(): T | null;
  write(state: T): void;
  remove(): void;
}

export function createCheckpoint<T extends object>(file: string): Checkpoint<T> {
  return {
    read() {
      if (!existsSync(file)) return null;
      try {
        return JSON.parse(readFileSync(file, 'utf8')) as T;
      } catch {
        return null;
      }
    },
    write(state) {
      writeFileSync(`${file}.new`, JSON.stringify(state));
      renameSync(`${file}.new`, file);
    },
    remove: () => rmSync(file, { force: true }),
  };
}
