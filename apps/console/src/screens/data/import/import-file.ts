import type { Format } from '@parley/rows';
import type { Answer, FileRow, OpenedFile, Reading, Request } from './messages';

/** A file that a worker has parsed. */
export class ImportFile {
  readonly name: string;
  readonly #worker = new Worker(new URL('./import-worker.ts', import.meta.url), { type: 'module' });
  #last: Promise<unknown> = Promise.resolve();

  constructor(name: string) {
    this.name = name;
  }

  open(file: File, format: Format): Promise<OpenedFile> {
    return this.#ask({ kind: 'open', file, format });
  }

  read(from: number, count: number, reading: Reading): Promise<FileRow[]> {
    return this.#ask({ kind: 'read', from, count, ...reading });
  }

  close(): void {
    this.#worker.terminate();
  }

  /** One request after the other: the worker answers in order. */
  #ask<Value extends OpenedFile | FileRow[]>(request: Request): Promise<Value> {
    const answer = this.#last.then(
      () =>
        new Promise<Value>((resolve, reject) => {
          this.#worker.onmessage = ({ data }: MessageEvent<Answer>) =>
            data.ok ? resolve(data.value as Value) : reject(new Error(data.error));
          this.#worker.onerror = (event) =>
            reject(new Error(event.message || 'The file could not be read'));
          this.#worker.postMessage(request);
        }),
    );
    this.#last = answer.catch(() => undefined);
    return answer;
  }
}

export interface Opened extends OpenedFile {
  file: ImportFile;
}
