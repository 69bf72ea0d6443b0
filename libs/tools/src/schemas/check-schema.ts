import { parentPort, workerData } from 'node:worker_threads';
import type { ErrorDetail, JsonObject } from '@parley/contracts';
import { Ajv, type ErrorObject } from 'ajv';
import { LRUCache } from 'lru-cache';

// This file is also the program of the threads of schema-threads.ts. Node runs it as it is in
// tests, so it imports only types and packages.

/** Names a thread that runs this file. */
export const threadName = 'parley-schemas';

export type SchemaRequest = { schema: string } | { schema: string; args: JsonObject };
/** `unusable`: the schema does not compile. */
export type SchemaAnswer =
  { problems: ErrorDetail[] } | { problem: string | null } | { unusable: true };

/** Refused because they refer to other documents, or change how a schema is evaluated. */
const refusedKeywords = ['$async', '$dynamicRef', '$recursiveRef'];

/** Checks schemas against JSON Schema draft 7 itself. Compiled once, as that takes about 20 ms. */
const metaSchema = new Ajv({ strict: false, validateFormats: false });

const tooComplex: ErrorDetail[] = [{ path: '', message: 'is too complex' }];

/**
 * Why a schema cannot be used, other than that it does not compile. Takes quadratic time for lists
 * of objects in `enum`.
 */
export function formProblems(schema: JsonObject): ErrorDetail[] {
  const problems = keywordProblems(schema);
  if (problems.length > 0) return problems;
  if (metaSchema.validateSchema(withoutIdentity(schema)) === true) return [];
  return [{ path: '', message: `is not a JSON Schema: ${describe(metaSchema.errors)}` }];
}

/**
 * Compiles a schema to a function that returns the first problem of the arguments, or null. It
 * never changes them.
 */
export function compileSchema(schema: JsonObject): (args: JsonObject) => string | null {
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
  const validate = ajv.compile(withoutIdentity(schema));
  return (args) => (validate(args) ? null : describe(validate.errors));
}

function allProblems(schema: JsonObject): ErrorDetail[] {
  try {
    const problems = formProblems(schema);
    if (problems.length === 0) compileSchema(schema);
    return problems;
  } catch (error) {
    // The stack is exhausted.
    if (error instanceof RangeError) return tooComplex;
    return [
      {
        path: '',
        message: `cannot be used: ${error instanceof Error ? error.message : 'it does not compile'}`,
      },
    ];
  }
}

/** `$id` and `$schema` are for references from other documents, which do not exist here. */
function withoutIdentity({ $id: _id, $schema: _schema, ...rest }: JsonObject): JsonObject {
  return rest;
}

function keywordProblems(schema: JsonObject): ErrorDetail[] {
  const problems: ErrorDetail[] = [];
  const stack: { value: unknown; path: string }[] = [{ value: schema, path: '' }];
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
  const place = error.instancePath
    .slice(1)
    .replaceAll('/', '.')
    .replaceAll('~1', '/')
    .replaceAll('~0', '~');
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

/**
 * Compiled checks of this thread by schema. They take about 30 bytes for each character
 * of their schemas.
 */
const compiled = new LRUCache<string, ReturnType<typeof compileSchema>>({
  maxSize: 500_000,
  sizeCalculation: (_check, schema) => schema.length,
  memoMethod: (schema) => compileSchema(JSON.parse(schema) as JsonObject),
});

function answer(request: SchemaRequest): SchemaAnswer {
  if (!('args' in request))
    return { problems: allProblems(JSON.parse(request.schema) as JsonObject) };
  try {
    return { problem: compiled.memo(request.schema)(request.args) };
  } catch (error) {
    if (error instanceof RangeError) throw error;
    return { unusable: true };
  }
}

if (workerData === threadName)
  parentPort?.on('message', (request: SchemaRequest) => {
    let answered: SchemaAnswer | null = null;
    try {
      answered = answer(request);
    } catch {
      // The stack is exhausted: the schema is too complex.
    }
    parentPort!.postMessage(answered);
  });
