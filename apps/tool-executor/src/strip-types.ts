import { stripTypeScriptTypes } from 'node:module';

export type StripResult =
  | { ok: true; code: string }
  | { ok: false; error: string; line?: number; column?: number; isBroken: boolean };

const opening = 'async function handler(args, context, parley, fetch) {\n';
const closing = '\n}';

/**
 * Replaces the types of a handler by blanks, so that the remaining code keeps its lines and
 * columns. TypeScript that must be compiled (enums, namespaces, parameter properties) is
 * refused. `isBroken`: the parser itself failed and will refuse all further code, so the process
 * must be replaced.
 */
export function stripTypes(code: string): StripResult {
  try {
    const stripped = stripTypeScriptTypes(opening + code + closing, { mode: 'strip' });
    return { ok: true, code: stripped.slice(opening.length, stripped.length - closing.length) };
  } catch (error) {
    const { code: reason, message, stack } = error as NodeJS.ErrnoException;
    if (
      reason !== 'ERR_INVALID_TYPESCRIPT_SYNTAX' &&
      reason !== 'ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX'
    ) {
      return { ok: false, error: 'The code is nested too deeply', isBroken: true };
    }
    return { ok: false, error: message, ...positionOf(stack ?? ''), isBroken: false };
  }
}

/**
 * The error's stack begins with `:line`, followed by the code and a row of `^` under the position.
 */
function positionOf(stack: string): { line?: number; column?: number } {
  const lines = stack.split('\n');
  const line = Number(/^[^\n]*:(\d+)$/.exec(lines[0] ?? '')?.[1]);
  const marks = lines.find((text) => /^ *\^+$/.test(text));
  return Number.isInteger(line)
    ? {
        line: Math.max(1, line - 1),
        ...(marks !== undefined && { column: marks.indexOf('^') + 1 }),
      }
    : {};
}
