import { SourceMap, type SourceMapPayload } from 'node:module';
import { transform } from 'esbuild';

/**
 * A larger gap between two statements is not source code, such as an imported prompt, and
 * is not reproduced.
 */
const maxBlankLines = 2000;

/**
 * Gives bundled code the line numbers of its source. esbuild drops blank lines and comments and
 * breaks long lines, but a tool's handler is stored as its text, and its errors must name the lines
 * of the author's file. Newlines are added and removed between lines only. Returns the bundle
 * unchanged when the result is not equivalent to it. `starts` are places of the result with their
 * source positions, in order.
 */
export async function preserveLineNumbers(
  code: string,
  sourceMap: string,
): Promise<{ code: string; starts: Start[] }> {
  const lines = startsOf(
    code.split('\n'),
    new SourceMap(JSON.parse(sourceMap) as SourceMapPayload),
  );
  for (const mayJoin of [true, false]) {
    const laidOut = layOut(lines, mayJoin);
    if (await isSame(code, laidOut.code)) return laidOut;
  }
  let at = 0;
  const starts = lines.flatMap(({ text, start }) => {
    const begin = at;
    at += text.length + 1;
    return start === null ? [] : [{ at: begin, ...start }];
  });
  return { code, starts };
}

/** The source position, with a line from 0, of the code from the character `at` on. */
export interface Start {
  at: number;
  source: string;
  line: number;
}

interface Line {
  text: string;
  /** Source position of its first token; null when the source map does not contain it. */
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
    // findEntry returns the last position of the line before for a line without a token at its
    // start, as in a template.
    const before = index === 0 ? null : placeAt(index - 1, Number.MAX_SAFE_INTEGER);
    const isInherited =
      (column === 0 || place.generatedColumn < column) &&
      before?.originalLine === place.originalLine &&
      before.originalColumn === place.originalColumn;
    return {
      text,
      start: isInherited ? null : { source: place.originalSource, line: place.originalLine },
    };
  });
}

function layOut(lines: Line[], mayJoin: boolean): { code: string; starts: Start[] } {
  const starts: Start[] = [];
  let text = '';
  let written = 0;
  /**
   * Difference between the line written and the source line, since the last point where the
   * two were aligned.
   */
  let offset: number | null = null;
  let last: Line['start'] = null;
  for (const [index, { text: own, start }] of lines.entries()) {
    if (start !== null && last !== null && (start.source !== last.source || start.line < last.line))
      offset = null;
    const before = lines[index - 1];
    const missing = start === null || offset === null ? 1 : start.line + offset - written;
    // Only parts of one source line are joined. Where esbuild writes more lines than there were,
    // the next lines follow it.
    const isSameLine = start !== null && start.line === last?.line;
    const canJoin =
      mayJoin && missing < 1 && isSameLine && before?.start != null && !before.text.includes('//');
    if (missing < 1 && !canJoin) offset = null;
    const newlines = missing > maxBlankLines ? 1 : Math.max(canJoin ? 0 : 1, missing);
    text += index === 0 ? own : (newlines === 0 ? ' ' : '\n'.repeat(newlines)) + own;
    if (index > 0) written += newlines;
    if (start !== null) {
      offset ??= written - start.line;
      last = start;
      starts.push({ at: text.length - own.length, ...start });
    }
  }
  return { code: text, starts };
}

/** Whether two texts differ in white space only. */
async function isSame(one: string, other: string): Promise<boolean> {
  const minify = async (code: string) => (await transform(code, { minifyWhitespace: true })).code;
  try {
    return (await minify(one)) === (await minify(other));
  } catch {
    return false;
  }
}
