import { stripTypes } from '../strip-types';
import type { Engine } from './engine';
import type { EngineError } from './engine-calls';
import { toHandlerError } from './handler-error';
import type { CompileResult } from './protocol';

/**
 * Returns the code for the engine: unchanged when it is JavaScript, else without its types.
 * JavaScript is tried first, because the same text can mean something else as TypeScript,
 * such as `f<a>(b)`. `mustReplace`: the parser is broken (strip-types.ts), so the process
 * must not be used again.
 */
export async function compileHandler(
  engine: Engine,
  code: string,
): Promise<{ result: CompileResult; mustReplace: boolean }> {
  const check = async (text: string): Promise<EngineError | null> => {
    const problem = engine.check(text);
    await engine.reset();
    return problem;
  };
  const problem = await check(code);
  if (problem === null) return { result: { ok: true, code }, mustReplace: false };
  const stripped = stripTypes(code);
  if (!stripped.ok) {
    const { isBroken, ...result } = stripped;
    return { result, mustReplace: isBroken };
  }
  const remaining = await check(stripped.code);
  if (remaining === null) return { result: stripped, mustReplace: false };
  const { message, line, column } = toHandlerError(remaining);
  return { result: { ok: false, error: message, line, column }, mustReplace: false };
}
