import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';

/** How far a long command has come, in a file beside its own, so that another run goes on there. */
export interface Mark<T> {
  read(): T | null;
  write(state: T): void;
  remove(): void;
}

export function createMark<T extends object>(file: string): Mark<T> {
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
