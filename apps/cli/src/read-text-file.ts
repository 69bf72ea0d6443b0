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
  const problem = encodingProblem(bytes);
  if (problem !== null) return { ok: false, problem };
  return { ok: true, text: new TextDecoder().decode(bytes) };
}

/** Why these bytes are not a text in UTF-8; null when they are. */
export function encodingProblem(bytes: Buffer): string | null {
  const isUtf16 = bytes.includes(0);
  if (isUtf16) return 'is in UTF-16 or no text. Save it in UTF-8';
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return null;
  } catch {
    return 'is not in UTF-8. Save it in UTF-8';
  }
}
