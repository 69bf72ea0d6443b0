import { handlerFile } from './engine';
import type { EngineError } from './engine-calls';
import { memoryExceeded, sandboxLimits } from './limits';
import type { HandlerError } from './protocol';

/** Stack frames of the prelude and of the engine itself. */
const foreignFrame = /^ +at .*\(?(parley\.js:|native\))/;
const position = new RegExp(`${handlerFile.replace('.', '\\.')}:(\\d+)(?::(\\d+))?`);

/** Converts positions in a text to lines of the handler, and removes stack frames of other code. */
export const toHandlerPositions = (text: string): string =>
  text
    .split('\n')
    .filter((line) => !foreignFrame.test(line))
    .map((line) =>
      line.replace(
        position,
        (_all, at: string, column?: string) => `handler:${lineOf(at)}${column ? `:${column}` : ''}`,
      ),
    )
    .join('\n');

/**
 * Converts an error of the engine: positions become lines of the handler, and frames of other code
 * are removed. `isExhausted`: the engine had no memory left, perhaps not even for an error, in
 * which case it throws null.
 */
export function toHandlerError(
  { name, message, stack = '' }: EngineError,
  isExhausted = false,
): HandlerError {
  const found = position.exec(stack);
  const frames = toHandlerPositions(stack).trim();
  return {
    ...(name !== undefined && { name: name.slice(0, 100).toWellFormed() }),
    message: (isExhausted && /^null$|out of memory$/.test(message)
      ? memoryExceeded
      : describe(name, message)
    )
      .slice(0, sandboxLimits.errorChars)
      .toWellFormed(),
    ...(found && { line: lineOf(found[1]!) }),
    ...(found?.[2] && { column: Number(found[2]) }),
    ...(frames !== '' && { stack: frames.slice(0, sandboxLimits.errorChars).toWellFormed() }),
  };
}

/** The wrapper adds one line before the handler. */
const lineOf = (line: string): number => Math.max(1, Number(line) - 1);

function describe(name: string | undefined, message: string): string {
  if (message === 'stack overflow') return 'Maximum call stack size exceeded';
  const isMemory = name === 'InternalError' && message === 'out of memory';
  return isMemory ? memoryExceeded : message;
}
