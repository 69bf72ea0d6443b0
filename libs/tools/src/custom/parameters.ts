import type { ErrorDetail, JsonObject } from '@parley/contracts';
import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import { runWithTimeLimit } from './run-with-time-limit';

/** Size of a tool's `parameters` as JSON text. */
const maxSchemaChars = 65_536;
const compileLimitMs = 2_000;
const checkLimitMs = 250;

/** Refused because they refer to other documents, or change how a schema is evaluated. */
const refusedKeywords = ['$async', '$dynamicRef', '$recursiveRef'];

/** Checks schemas against JSON Schema draft 7 itself. Compiled once, as that takes about 20 ms. */
const metaSchema = new Ajv({ strict: false, validateFormats: false });

/** Returns the first problem of the arguments, in words that a model can act on; null when they are valid. */
export type ParameterCheck = (args: JsonObject) => string | null;

/**
 * Returns the problems of the `parameters` of a custom tool; empty when they can be used. `format` is a note to the model
 * and is not checked. References must point into the same document.
 */
export function parameterProblems(parameters: JsonObject): ErrorDetail[] {
  if (JSON.stringify(parameters).length > maxSchemaChars) {
    return [{ path: '', message: `is longer than ${maxSchemaChars} characters` }];
  }
  if (parameters.type !== undefined && parameters.type !== 'object') {
    return [{ path: 'type', message: 'must be "object": arguments are named' }];
  }
  const problems = keywordProblems(parameters);
  if (problems.length > 0) return problems;
  if (metaSchema.validateSchema(withoutIdentity(parameters)) !== true) {
    return [{ path: '', message: `is not a JSON Schema: ${describe(metaSchema.errors)}` }];
  }
  const compiled = compile(parameters);
  return compiled.ok ? [] : [{ path: '', message: compiled.message }];
}

/** Compiles a check of arguments. It has a time limit for any schema and arguments, and never changes the arguments. */
export function compileParameters(parameters: JsonObject): { ok: true; check: ParameterCheck } | { ok: false } {
  if (parameterProblems(parameters).length > 0) return { ok: false };
  const compiled = compile(parameters);
  if (!compiled.ok) return { ok: false };
  const { validate } = compiled;
  // Every other keyword takes time in proportion to the arguments.
  const isRisky = /"(pattern|patternProperties|uniqueItems|\$ref)":/.test(JSON.stringify(parameters));
  return {
    ok: true,
    check(args) {
      const check = () => (validate(args) ? null : describe(validate.errors));
      if (!isRisky) return check();
      const limited = runWithTimeLimit(checkLimitMs, check);
      return limited.ok ? limited.value : 'are too complex to check against the parameters of this tool';
    },
  };
}

function compile(parameters: JsonObject): { ok: true; validate: ValidateFunction } | { ok: false; message: string } {
  // Each schema has its own instance, so that those of different tenants share nothing.
  const ajv = new Ajv({
    strict: false,
    validateFormats: false,
    validateSchema: false,
    meta: false,
    ownProperties: true,
    inlineRefs: false,
    allErrors: false,
    logger: false,
  });
  try {
    const limited = runWithTimeLimit(compileLimitMs, () => ajv.compile(withoutIdentity(parameters)));
    if (limited.ok) return { ok: true, validate: limited.value };
    return { ok: false, message: 'is too complex' };
  } catch (error) {
    return { ok: false, message: `cannot be used: ${error instanceof Error ? error.message : 'it does not compile'}` };
  }
}

/** `$id` and `$schema` are for references from other documents, which do not exist here. */
function withoutIdentity({ $id: _id, $schema: _schema, ...rest }: JsonObject): JsonObject {
  return rest;
}

function keywordProblems(parameters: JsonObject): ErrorDetail[] {
  const problems: ErrorDetail[] = [];
  const stack: { value: unknown; path: string }[] = [{ value: parameters, path: '' }];
  for (let item = stack.pop(); item !== undefined; item = stack.pop()) {
    if (typeof item.value !== 'object' || item.value === null) continue;
    for (const [key, value] of Object.entries(item.value)) {
      const path = item.path === '' ? key : `${item.path}.${key}`;
      if (key === '$ref' && typeof value === 'string' && !value.startsWith('#')) {
        problems.push({ path, message: 'must point into the same document ("#/…")' });
      }
      if (key === '$id' && typeof value === 'string' && item.path !== '') {
        problems.push({ path, message: 'is only allowed at the top' });
      }
      if (refusedKeywords.includes(key) && typeof value !== 'object') {
        problems.push({ path, message: 'is not supported' });
      }
      stack.push({ value, path });
    }
  }
  return problems;
}

function describe(errors: ErrorObject[] | null | undefined): string {
  const error = errors?.[0];
  if (error === undefined) return 'do not fit the parameters of this tool';
  const place = error.instancePath.slice(1).replaceAll('/', '.').replaceAll('~1', '/').replaceAll('~0', '~');
  const { additionalProperty, allowedValues } = error.params as {
    additionalProperty?: string;
    allowedValues?: unknown;
  };
  const detail =
    error.keyword === 'additionalProperties'
      ? `must not have "${additionalProperty}"`
      : error.keyword === 'enum'
        ? `must be one of ${JSON.stringify(allowedValues)}`
        : (error.message ?? 'is not valid');
  return (place === '' ? detail : `${place} ${detail}`).slice(0, 500);
}
