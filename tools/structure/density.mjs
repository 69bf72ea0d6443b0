// How dense the code of each project is: figures to read, without limits.
import ts from 'typescript';

/** A function that does not fit on a screen. */
const longFunctionLines = 80;

/**
 * The figures of each project, and of all of them as the last row. `files` are those of
 * `productionFiles`.
 * @returns {{ project: string, lines: number, tokensPerLine: number, conditionals: number, nested:
 *   number, spreads: number, longFunctions: number }[]} `tokensPerLine` is the mean of the lines
 *   that have a token; `nested` are the conditional expressions directly inside another, `spreads`
 *   those of an object literal (`...{ a, b }`).
 */
export function measureDensity(files) {
  const counts = new Map();
  for (const { place, source, lines } of files) {
    const count = counts.get(place) ?? emptyCount();
    counts.set(place, count);
    count.lines += lines;
    countFile(source, count);
  }
  const rows = [...counts].sort(([a], [b]) => (a < b ? -1 : 1));
  const total = emptyCount();
  for (const [, count] of rows) {
    for (const name of Object.keys(total)) total[name] += count[name];
  }
  return [...rows, ['all', total]].map(([project, count]) => rowOf(project, count));
}

/** The functions above the length that a screen shows, the longest first. */
export const longFunctions = (files) =>
  files
    .flatMap(({ path, source }) => functionsOf(source).map((found) => ({ path, ...found })))
    .filter(({ lines }) => lines > longFunctionLines)
    .sort((a, b) => b.lines - a.lines);

const emptyCount = () => ({
  lines: 0,
  codeLines: 0,
  tokens: 0,
  conditionals: 0,
  nested: 0,
  spreads: 0,
  longFunctions: 0,
});

function rowOf(
  project,
  { lines, codeLines, tokens, conditionals, nested, spreads, longFunctions },
) {
  const tokensPerLine = tokens / Math.max(codeLines, 1);
  return { project, lines, tokensPerLine, conditionals, nested, spreads, longFunctions };
}

function countFile(source, count) {
  const codeLines = new Set();
  const visit = (node) => {
    if (ts.isConditionalExpression(node)) {
      count.conditionals += 1;
      if (ts.isConditionalExpression(withoutParentheses(node.parent))) count.nested += 1;
    }
    if (ts.isSpreadAssignment(node) && ts.isObjectLiteralExpression(node.expression))
      count.spreads += 1;
    if (isTokenWithText(node)) {
      count.tokens += 1;
      codeLines.add(lineOf(source, node.getStart(source)));
    }
    for (const child of node.getChildren(source)) {
      if (!ts.isJSDoc(child)) visit(child);
    }
  };
  visit(source);
  count.codeLines += codeLines.size;
  count.longFunctions += functionsOf(source).filter(
    ({ lines }) => lines > longFunctionLines,
  ).length;
}

const isTokenWithText = (node) =>
  ts.isTokenKind(node.kind) && node.getText(source(node)).trim() !== '';
const source = (node) => node.getSourceFile();
const lineOf = (file, position) => file.getLineAndCharacterOfPosition(position).line;

function withoutParentheses(node) {
  return ts.isParenthesizedExpression(node) ? withoutParentheses(node.parent) : node;
}

function functionsOf(source) {
  const found = [];
  const visit = (node) => {
    if (ts.isFunctionLike(node) && node.body !== undefined) {
      const first = lineOf(source, node.getStart(source));
      const name = node.name ?? node.parent.name;
      found.push({
        name: name?.getText(source) ?? 'a function without a name',
        line: first + 1,
        lines: lineOf(source, node.getEnd()) - first + 1,
      });
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}
