import { SourceMap, type SourceMapPayload } from 'node:module';
import { transform } from 'esbuild';

/** More than this between two statements is text of another kind, such as a prompt, and no reason to add lines. */
const mostBlankLines = 2000;

/**
 * Lays bundled code out as its source was, line by line: esbuild drops blank lines and comments and breaks long ones,
 * and the handler of a tool is stored as its text, whose errors are to name the lines that its author sees. Newlines are
 * only added and removed where lines begin; a result that does not mean the same is not taken.
 */
export async function keepLines(code: string, sourceMap: string): Promise<string> {
  const lines = startsOf(code.split('\n'), new SourceMap(JSON.parse(sourceMap) as SourceMapPayload));
  for (const mayJoin of [true, false]) {
    const laidOut = layOut(lines, mayJoin);
    if (await isSame(code, laidOut)) return laidOut;
  }
  return code;
}

interface Line {
  text: string;
  /** Where its first token stood; null when that is not known. */
  start: { source: string; line: number } | null;
}

function startsOf(lines: string[], map: SourceMap): Line[] {
  const placeAt = (index: number, column: number) => {
    const entry = map.findEntry(index, column);
    return 'originalSource' in entry && entry.generatedLine === index ? entry : null;
  };
  return lines.map((text, index) => {
    const column = Math.max(0, text.search(/\S/));
    const place = placeAt(index, column);
    if (place === null) return { text, start: null };
    // A line that no token begins, as in a template, is given the last place of the line before.
    const before = index === 0 ? null : placeAt(index - 1, Number.MAX_SAFE_INTEGER);
    const isInherited =
      (column === 0 || place.generatedColumn < column) &&
      before?.originalLine === place.originalLine &&
      before.originalColumn === place.originalColumn;
    return { text, start: isInherited ? null : { source: place.originalSource, line: place.originalLine } };
  });
}

function layOut(lines: Line[], mayJoin: boolean): string {
  let text = '';
  let written = 0;
  /** What to add to a source line for its line here, from where the two began to go side by side. */
  let offset: number | null = null;
  let last: Line['start'] = null;
  for (const [index, { text: own, start }] of lines.entries()) {
    if (start !== null && last !== null && (start.source !== last.source || start.line < last.line)) offset = null;
    const before = lines[index - 1];
    const missing = start === null || offset === null ? 1 : start.line + offset - written;
    const canJoin = mayJoin && missing < 1 && before?.start != null && !before.text.includes('//');
    const newlines = missing > mostBlankLines ? 1 : Math.max(canJoin ? 0 : 1, missing);
    text += index === 0 ? own : (newlines === 0 ? ' ' : '\n'.repeat(newlines)) + own;
    if (index > 0) written += newlines;
    if (start !== null) {
      offset ??= written - start.line;
      last = start;
    }
  }
  return text;
}

async function isSame(one: string, other: string): Promise<boolean> {
  const essence = async (code: string) => (await transform(code, { minifyWhitespace: true })).code;
  try {
    return (await essence(one)) === (await essence(other));
  } catch {
    return false;
  }
}
