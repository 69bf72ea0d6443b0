import { stripTypes } from '../strip-types';
import type { Engine, ThrownInside } from './engine';
import { toHandlerError } from './handler-error';
import type { CompileResult } from './protocol';

/**
 * Decides what the engine is to run: the code as it came when it is JavaScript, else the code without its types. Plain
 * JavaScript is tried first, so that a handler never changes its meaning by being read as TypeScript (`f<a>(b)`).
 */
export async function compileHandler(
  engine: Engine,
  code: string,
): Promise<{ result: CompileResult; isWorn: boolean }> {
  const check = async (text: string): Promise<ThrownInside | null> => {
    const problem = engine.check(text);
    await engine.reset();
    return problem;
  };
  const problem = await check(code);
  if (problem === null) return { result: { ok: true, code }, isWorn: false };
  const stripped = stripTypes(code);
  if (!stripped.ok) {
    const { isBroken, ...result } = stripped;
    return { result, isWorn: isBroken };
  }
  const remaining = await check(stripped.code);
  if (remaining === null) return { result: stripped, isWorn: false };
  const { message, line, column } = toHandlerError(remaining);
  return { result: { ok: false, error: message, line, column }, isWorn: false };
}
