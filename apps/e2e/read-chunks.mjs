// Reads lists of chunks from standard input, one JSON array per line, and prints for each the text
// that the published AI SDK makes of its last step. Exits with 1 when a chunk does not have the
// SDK's schema. A process of its own, because Jest cannot load ES modules.
import { createInterface } from 'node:readline/promises';
import { ReadableStream } from 'node:stream/web';
import { uiMessageChunkSchema } from 'ai';
import { partsOf, textIn } from './read-message.mjs';

const { validate } = uiMessageChunkSchema();

for await (const line of createInterface({ input: process.stdin })) {
  const chunks = JSON.parse(line);
  for (const chunk of chunks) {
    const { success, error } = await validate(chunk);
    if (!success) throw new Error(`${JSON.stringify(chunk)}: ${error.message}`);
  }
  const parts = await partsOf(ReadableStream.from(chunks));
  const lastStep = parts.slice(parts.findLastIndex(({ type }) => type === 'step-start') + 1);
  console.log(JSON.stringify(textIn(lastStep)));
}
