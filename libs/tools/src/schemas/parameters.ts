import { type ErrorDetail, type JsonObject, findUnstorable } from '@parley/contracts';
import { compileSchema, formProblems } from './check-schema';
import { areFew, isSimple } from './is-simple';
import { askSchemaThread } from './schema-threads';

/** Size of a tool's `parameters` as JSON text. */
const maxSchemaChars = 65_536;

const tooComplex: ErrorDetail[] = [{ path: '', message: 'is too complex' }];

/**
 * `invalid`: the problem, in words that a model can act on. `unusable`: the parameters do not compile. `busy`: other checks of
 * the organization take too long.
 */
export type ParameterOutcome = { ok: true } | { ok: false; reason: 'invalid' | 'unusable' | 'busy'; message: string };
export type ParameterCheck = (args: JsonObject, organizationId: string) => Promise<ParameterOutcome>;

/**
 * Returns the problems of the `parameters` of a tool; empty when they can be used, and null when other schemas of the
 * organization take all of its threads. `format` is a note to the model and is not checked. References must point into the
 * same document.
 */
export async function parameterProblems(parameters: JsonObject, organizationId: string): Promise<ErrorDetail[] | null> {
  // JSON.stringify overflows the stack at several thousand levels.
  if (findUnstorable(parameters) !== null) return tooComplex;
  const schema = JSON.stringify(parameters);
  if (schema.length > maxSchemaChars) return [{ path: '', message: `is longer than ${maxSchemaChars} characters` }];
  if (parameters.type !== undefined && parameters.type !== 'object') {
    return [{ path: 'type', message: 'must be "object": arguments are named' }];
  }
  // Every simple schema compiles.
  if (isSimple(parameters, schema.length)) return formProblems(parameters);
  const answered = await askSchemaThread(organizationId, { schema });
  if (answered === 'busy') return null;
  return answered !== null && 'problems' in answered ? answered.problems : tooComplex;
}

/**
 * A check of arguments, for parameters without problems. A simple schema is compiled and checks few arguments here, in about
 * 20 and 10 ms at most; any other check has a time limit in a thread of its own. The arguments are never changed.
 */
export function compileParameters(parameters: JsonObject): ParameterCheck {
  const schema = JSON.stringify(parameters);
  const isOfThisThread = isSimple(parameters, schema.length);
  let check: ReturnType<typeof compileSchema> | undefined;
  return async (args, organizationId) => {
    if (isOfThisThread && areFew(args, schema.length)) return outcomeOf((check ??= compileSchema(parameters))(args));
    const answered = await askSchemaThread(organizationId, { schema, args });
    if (answered === 'busy')
      return {
        ok: false,
        reason: 'busy',
        message: 'cannot be checked now, because other checks take too long. Try again',
      };
    if (answered !== null && 'unusable' in answered)
      return { ok: false, reason: 'unusable', message: 'are not usable' };
    return outcomeOf(
      answered !== null && 'problem' in answered
        ? answered.problem
        : 'are too complex to check against the parameters of this tool',
    );
  };
}

const outcomeOf = (problem: string | null): ParameterOutcome =>
  problem === null ? { ok: true } : { ok: false, reason: 'invalid', message: problem };
