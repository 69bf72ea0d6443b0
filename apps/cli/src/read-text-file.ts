import { readFileSync } from 'node:fs';

export type TextFile = { ok: true; text: string } | { ok: false; problem: string };

/**
 * Reads a text file of the user as UTF-8, without a byte order mark. Editors on Windows also write
 * UTF-16, which would be read as nothing or as other names: that is a problem, not an empty file.
 */
export function readTextFile(path: string): TextFile {
  let bytes: Buffer;
  try {
    bytes = readFileSync(path);
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    return { ok: false, problem: `cannot be read (${code})` };
  }
  const isUtf16 = bytes.includes(0);
  if (isUtf16) return { ok: false, problem: 'is in UTF-16 or no text. Save it in UTF-8' };
  try {
    return { ok: true, text: new TextDecoder('utf-8', { fatal: true }).decode(bytes) };
  } catch {
    return { ok: false, problem: 'is not in UTF-8. Save it in UTF-8' };
  }
}
