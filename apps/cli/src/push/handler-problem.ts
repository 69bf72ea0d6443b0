import { stripTypeScriptTypes } from 'node:module';
import { Script } from 'node:vm';

const opening = 'async function handler(args, context, parley, fetch) {\n';
const closing = '\n}';

/**
 * What keeps the code of a tool from being run, with its line and column; null when it parses. It is only parsed, as
 * the tool executor will: JavaScript first, else TypeScript whose types can be left out.
 */
export function handlerProblem(code: string): string | null {
  const wrapped = opening + code + closing;
  const problem = parseProblem(wrapped);
  if (problem === null) return null;
  let stripped: string;
  try {
    stripped = stripTypeScriptTypes(wrapped, { mode: 'strip' });
  } catch (error) {
    return describe(error);
  }
  return parseProblem(stripped);
}

function parseProblem(code: string): string | null {
  try {
    new Script(code, { filename: 'handler' });
    return null;
  } catch (error) {
    return describe(error);
  }
}

/** Both parsers write the line, the text around it and a row of `^` below the place in front of the stack. */
function describe(error: unknown): string {
  const { message, stack = '' } = error as Error;
  const lines = stack.split('\n');
  const line = Number(/:(\d+)$/.exec(lines[0] ?? '')?.[1]) - 1;
  const marks = lines.find((text) => /^ *\^+$/.test(text));
  if (!Number.isInteger(line)) return message;
  return `line ${Math.max(1, line)}${marks === undefined ? '' : `, column ${marks.indexOf('^') + 1}`}: ${message}`;
}
