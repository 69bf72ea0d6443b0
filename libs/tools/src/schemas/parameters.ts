import { type ErrorDetail, type JsonObject, findUnstorable } from '@parley/contracts';
import { LRUCache } from 'lru-cache';
import { compileSchema, formProblems } from './check-schema';
import { areFew, isSimple } from './is-simple';
import { askSchemaThread } from './schema-threads';

/** Size of a tool's `parameters` as JSON text. */
const maxSchemaChars = 65_536;

const tooComplex: ErrorDetail[] = [{ path: '', message: 'is too complex' }];

/**
 * `invalid`: the problem, in words that a model can act on. `unusable`: the parameters do not
 * compile. `busy`: other checks of the organization take too long.
 */
type ParameterOutcome =
  { ok: true } | { ok: false; reason: 'invalid' | 'unusable' | 'busy'; message: string };

/**
 * Returns the problems of the `parameters` of a tool; empty when they can be used, and null when
 * other schemas of the organization take all of its threads. `format` is a note to the model and is
 * not checked. References must point into the same document.
 */
export async function parameterProblems(
  parameters: JsonObject,
  organizationId: string,
): Promise<ErrorDetail[] | null> {
  // JSON.stringify overflows the stack at several thousand levels.
  if (findUnstorable(parameters) !== null) return tooComplex;
  const schema = JSON.stringify(parameters);
  if (schema.length > maxSchemaChars)
    return [{ path: '', message: `is longer than ${maxSchemaChars} characters` }];
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
 * Checks of simple schemas by their text. They take about 30 bytes for each character
 * of their schemas.
 */
const simpleChecks = new LRUCache<string, ReturnType<typeof compileSchema>, JsonObject>({
  maxSize: 1_000_000,
  sizeCalculation: (_check, schema) => schema.length,
  memoMethod: (_schema, _old, { context: parameters }) => compileSchema(parameters),
});

/**
 * Checks the arguments of a tool, whose parameters are without problems. A simple schema is
 * compiled and checks few arguments here, in about 20 and 10 ms at most; any other check has a time
 * limit in a thread of its own. The arguments are never changed.
 */
export async function checkArguments(
  parameters: JsonObject,
  args: JsonObject,
  organizationId: string,
): Promise<ParameterOutcome> {
  const schema = JSON.stringify(parameters);
  if (isSimple(parameters, schema.length) && areFew(args, schema.length))
    return outcomeOf(simpleChecks.memo(schema, { context: parameters })(args));
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
      : 'too complex to check against the parameters of this tool',
  );
}

const outcomeOf = (problem: string | null): ParameterOutcome =>
  problem === null ? { ok: true } : { ok: false, reason: 'invalid', message: problem };
