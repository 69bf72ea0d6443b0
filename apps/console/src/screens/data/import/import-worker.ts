import type { Answer, Request } from './messages';
import { openFile, readRows } from './parse-file';

// Parses a file beside the page, so that a large one does not stop it.

// The options of the page's own `postMessage` differ, and TypeScript takes this file for a
// part of the page.
const send = (answer: Answer) => (self.postMessage as (message: Answer) => void)(answer);
self.onmessage = async ({ data }: MessageEvent<Request>) => {
  try {
    send({ ok: true, value: data.kind === 'open' ? await openFile(data) : readRows(data) });
  } catch (error) {
    send({ ok: false, error: (error as Error).message });
  }
};
