import { join } from 'node:path';

/**
 * The program of a thread, or the file that contains it. Bundles contain the program's text
 * (tools/build.mjs).
 */
export const threadProgram: { file: string } | { text: string } = {
  file: join(__dirname, 'check-schema.ts'),
};
