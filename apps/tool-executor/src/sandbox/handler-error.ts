import { type ThrownInside, handlerFile } from './engine';
import { type HandlerError, sandboxLimits } from './protocol';

/** Frames of the prelude and of the engine's own start. */
const surrounding = /^ +at .*\(?(parley\.js:|native\))/;
const place = new RegExp(`${handlerFile.replace('.', '\\.')}:(\\d+)(?::(\\d+))?`);

/** Puts places in a text into the handler's own lines, and drops the frames of what is around it. */
export const ownPlaces = (text: string): string =>
  text
    .split('\n')
    .filter((line) => !surrounding.test(line))
    .map((line) =>
      line.replace(place, (_all, at: string, column?: string) => `handler:${own(at)}${column ? `:${column}` : ''}`),
    )
    .join('\n');

/** Puts an error of the engine into the handler's own terms: its lines and columns, without the frames around it. */
export function toHandlerError({ name, message, stack = '' }: ThrownInside): HandlerError {
  const found = place.exec(stack);
  const frames = ownPlaces(stack).trim();
  return {
    ...(name !== undefined && { name: name.slice(0, 100).toWellFormed() }),
    message: describe(name, message).slice(0, sandboxLimits.errorChars).toWellFormed(),
    ...(found && { line: own(found[1]!) }),
    ...(found?.[2] && { column: Number(found[2]) }),
    ...(frames !== '' && { stack: frames.slice(0, sandboxLimits.errorChars).toWellFormed() }),
  };
}

/** The wrapper around a handler takes one line. */
const own = (line: string): number => Math.max(1, Number(line) - 1);

function describe(name: string | undefined, message: string): string {
  if (message === 'stack overflow') return 'Maximum call stack size exceeded';
  const isMemory = name === 'InternalError' && message === 'out of memory';
  return isMemory ? `Memory limit exceeded (${sandboxLimits.memoryBytes / 1024 / 1024} MiB)` : message;
}
