import type { ErrorDetail, JsonObject } from '@parley/contracts';
import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import { withinLimit } from './within-limit';

/** Size of a tool's `parameters` as JSON text. */
const maxSchemaChars = 65_536;
const compileLimitMs = 2_000;
const checkLimitMs = 250;

/** Keywords that look elsewhere, or change what a schema is. A JSON Schema here is one self-contained document. */
const refusedKeywords = ['$async', '$dynamicRef', '$recursiveRef'];

/** Checks schemas against JSON Schema draft 7 itself; compiled once, as that costs some 20 ms. */
const metaSchema = new Ajv({ strict: false, validateFormats: false });

/** Problem of the arguments, in words a model can act on; null when they fit. */
export type ParameterCheck = (args: JsonObject) => string | null;

/**
 * What is wrong with the `parameters` of a custom tool; empty when they can be used. Formats are notes to the model and
 * not checked; references stay inside the document.
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

/** A check of arguments; bounded in time whatever schema and arguments are, and it never changes them. */
export function compileParameters(parameters: JsonObject): { ok: true; check: ParameterCheck } | { ok: false } {
  if (parameterProblems(parameters).length > 0) return { ok: false };
  const compiled = compile(parameters);
  if (!compiled.ok) return { ok: false };
  const { validate } = compiled;
  // Everything else takes time in proportion to the arguments.
  const isRisky = /"(pattern|patternProperties|uniqueItems|\$ref)":/.test(JSON.stringify(parameters));
  return {
    ok: true,
    check(args) {
      const check = () => (validate(args) ? null : describe(validate.errors));
      if (!isRisky) return check();
      const limited = withinLimit(checkLimitMs, check);
      return limited.ok ? limited.value : 'are too complex to check against the parameters of this tool';
    },
  };
}

function compile(parameters: JsonObject): { ok: true; validate: ValidateFunction } | { ok: false; message: string } {
  // An instance of its own: schemas of different tenants never meet.
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
    const limited = withinLimit(compileLimitMs, () => ajv.compile(withoutIdentity(parameters)));
    if (limited.ok) return { ok: true, validate: limited.value };
    return { ok: false, message: 'is too complex' };
  } catch (error) {
    return { ok: false, message: `cannot be used: ${error instanceof Error ? error.message : 'it does not compile'}` };
  }
}

/** `$id` and `$schema` name a schema for others; nobody else refers to this one. */
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
