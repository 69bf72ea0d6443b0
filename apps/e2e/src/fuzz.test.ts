import fc from 'fast-check';
import type { OpenApiOperation, SchemaObject } from '@parley/contracts';
import { rounds } from '@parley/testing';
import { catalog } from './catalog';
import { type Client, createClient, push } from './client';
import { openApi } from './conformance';
import { shared } from './stack';
import { type Tenant, createTenant } from './tenant';

/** Requests per operation. */
const requests = rounds(16, 1_000);
const seed = Number(process.env.PARLEY_FUZZ_SEED || Date.now() % 1_000_000);
const inFlight = 8;
jest.setTimeout(60_000 + requests * 2_000);

let tenant: Tenant;
let client: Client & { key: string };
let executor: Client;
beforeAll(async () => {
  tenant = await createTenant();
  client = await tenant.client({ permissions: ['*', 'manage'] });
  executor = createClient(shared.url, shared.executorToken);
  await push(client, {
    ...catalog,
    routers: [
      { slug: 'desk', name: 'Desk', mode: 'rules', agents: ['assistant'], fallback: 'assistant' },
    ],
  });
  const created = await client.post('/v1/data/product', { data: { name: 'Lamp', price: 12 } });
  names.push(created.body.id as string);
  existing.id = [created.body.id as string];
});
afterAll(() => tenant.close());

/** Existing names, so that some requests pass the first checks. */
const names = [
  'product',
  'order',
  'assistant',
  'desk',
  'entity.query',
  'data.name',
  'data.price',
  'active',
  'deleted',
];

/** Existing values of path parameters. */
const existing: Record<string, string[]> = {
  type: ['product', 'order'],
  slug: ['assistant', 'desk'],
};

const anyText = fc.oneof(
  fc.constantFrom(...names),
  fc.string({ maxLength: 30 }),
  fc.string({ unit: 'binary', maxLength: 12 }),
  fc.constantFrom(
    '',
    ' ',
    '\u0000',
    '\ud800',
    '../..',
    '%00',
    "'; --",
    '{{now}}',
    '__proto__',
    'null',
    '١٢',
    'a'.repeat(5_000),
  ),
);
const anyJson = fc.jsonValue({ maxDepth: 4 }) as fc.Arbitrary<unknown>;
const operators = [
  '$eq',
  '$ne',
  '$neq',
  '$in',
  '$nin',
  '$gt',
  '$gte',
  '$lt',
  '$lte',
  '$contains',
  '$exists',
  '$or',
];
/** Values for objects without declared properties: filters, data, arguments. */
const anyObject = fc.oneof(
  fc.dictionary(anyText, anyJson, { maxKeys: 5 }),
  fc.dictionary(
    fc.constantFrom(
      'data.name',
      'data.price',
      'id',
      'status',
      'createdAt',
      'name',
      'type',
      'filters',
    ),
    anyJson,
    { maxKeys: 4 },
  ),
  fc.dictionary(
    fc.constantFrom('data.name', 'data.price', 'data.tags.0', 'id'),
    fc.dictionary(fc.constantFrom(...operators), anyJson, { maxKeys: 2 }),
    { maxKeys: 3 },
  ),
);

const isObject = (value: unknown): value is SchemaObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const listOf = (value: unknown): SchemaObject[] =>
  Array.isArray(value) ? value.filter(isObject) : [];

/** Values that mostly match a schema; about one in 40 does not. */
function valueOf(schema: SchemaObject, depth = 0): fc.Arbitrary<unknown> {
  const fitting = fittingOf(schema, depth);
  return fc.oneof({ arbitrary: fitting, weight: 40 }, { arbitrary: anyJson, weight: 1 });
}

function fittingOf(schema: SchemaObject, depth: number): fc.Arbitrary<unknown> {
  if (typeof schema.$ref === 'string') {
    const name = schema.$ref.split('/').at(-1)!;
    if (name === 'Json') return anyJson;
    return depth > 6 ? anyJson : fittingOf(openApi.components.schemas[name]!, depth + 1);
  }
  const alternatives = [...listOf(schema.anyOf), ...listOf(schema.oneOf)];
  if (alternatives.length > 0)
    return fc.oneof(...alternatives.map((one) => fittingOf(one, depth + 1)));
  if (schema.const !== undefined) return fc.constant(schema.const);
  if (Array.isArray(schema.enum)) return fc.constantFrom(...(schema.enum as unknown[]));
  switch (schema.type) {
    case 'string':
      return typeof schema.pattern === 'string'
        ? fc.oneof(fc.constantFrom(...names), fc.stringMatching(new RegExp(schema.pattern)))
        : anyText;
    case 'integer':
      return fc.oneof(fc.integer({ min: 0, max: 200 }), fc.integer(), fc.maxSafeInteger());
    case 'number':
      return fc.oneof(
        fc.integer({ min: 0, max: 100_000 }),
        fc.double({ noNaN: true, noDefaultInfinity: true }),
      );
    case 'boolean':
      return fc.boolean();
    case 'null':
      return fc.constant(null);
    case 'array':
      return fc.array(isObject(schema.items) ? valueOf(schema.items, depth + 1) : anyJson, {
        maxLength: 3,
      });
    case 'object':
      return objectOf(schema, depth);
    default:
      return fc.oneof(anyObject, anyJson);
  }
}

function objectOf({ properties, required }: SchemaObject, depth: number): fc.Arbitrary<unknown> {
  if (!isObject(properties)) return anyObject;
  const model = Object.fromEntries(
    Object.entries(properties).map(([name, schema]) => [
      name,
      valueOf(schema as SchemaObject, depth + 1),
    ]),
  );
  const always = Array.isArray(required) ? (required as string[]) : [];
  const whole = fc.record(model, { requiredKeys: always });
  const partial = fc.record(model, { requiredKeys: [] });
  return fc.oneof({ arbitrary: whole, weight: 9 }, { arbitrary: partial, weight: 1 });
}

interface FuzzRequest {
  path: string;
  body: string | undefined;
  headers: Record<string, string>;
}

function requestOf(template: string, operation: OpenApiOperation): fc.Arbitrary<FuzzRequest> {
  const inPath = operation.parameters.filter((one) => one.in === 'path');
  const inQuery = operation.parameters.filter((one) => one.in === 'query');
  const segment = (name: string) =>
    fc.oneof(
      { arbitrary: fc.constantFrom(...(existing[name] ?? names)), weight: 6 },
      { arbitrary: anyText, weight: 1 },
    );
  const [type, content] = Object.entries(operation.requestBody?.content ?? {})[0] ?? [];
  const headers = fc.record(
    {
      'Idempotency-Key': fc.oneof(
        { arbitrary: fc.uuid(), weight: 8 },
        { arbitrary: fc.constantFrom('same', 'not visible'), weight: 1 },
      ),
      'X-Request-Id': fc.oneof(fc.uuid(), fc.constant('no sane id!')),
    },
    { requiredKeys: [] },
  );
  return fc
    .record({
      path: fc.tuple(...inPath.map(({ name }) => segment(name))),
      query: fc.record(
        Object.fromEntries(
          inQuery.map(({ name, schema }) => [name, fc.oneof(valueOf(schema).map(String), anyText)]),
        ),
        { requiredKeys: [] },
      ),
      body: content === undefined ? fc.constant(undefined) : valueOf(content.schema),
      spoiled: fc.integer({ min: 0, max: 19 }),
      headers,
    })
    .map(({ path, query, body, spoiled, headers: given }) => {
      let at = 0;
      const filled = template.replace(/\{\w+\}/g, () => encode(path[at++]!));
      const search = Object.entries(query).map(
        ([name, value]) => `${name}=${encode(value as string)}`,
      );
      const text =
        body === undefined
          ? undefined
          : type === 'application/json'
            ? JSON.stringify(body)
            : formOf(body);
      return {
        path: search.length === 0 ? filled : `${filled}?${search.join('&')}`,
        body: text !== undefined && spoiled === 0 ? text.slice(0, -1) : text,
        headers: { ...given, ...(type !== undefined && { 'Content-Type': type }) },
      };
    });
}

/** A lone surrogate cannot be URL-encoded. It appears in bodies only. */
const encode = (text: string): string => encodeURIComponent(text.toWellFormed()) || '%20';
const formOf = (body: unknown): string =>
  isObject(body)
    ? new URLSearchParams(
        Object.entries(body).map(([name, value]): [string, string] => [name, textOf(value)]),
      ).toString()
    : textOf(body);
/** A random object may have a key `toString`, with which `String` fails. */
const textOf = (value: unknown): string =>
  typeof value === 'object' ? JSON.stringify(value) : String(value);

const operations = Object.entries(openApi.paths).flatMap(([template, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({
    id: operation.operationId,
    template,
    method,
    operation,
  })),
);

test.each(operations)(
  '$id answers random requests as documented',
  async ({ template, method, operation }) => {
    const own = operation.security.some((one) => 'executorToken' in one) ? executor : client;
    const open = createClient(shared.url);
    const sender = operation.security.length === 0 ? open : own;
    const samples = fc.sample(requestOf(template, operation), { numRuns: requests, seed });
    const statuses = new Map<number, number>();
    const wrong: string[] = [];
    const send = async ({ path, body, headers }: FuzzRequest) => {
      const described = `${method.toUpperCase()} ${path} ${body} ${JSON.stringify(headers)}`;
      try {
        const answer =
          operation.operationId === 'streamEvents'
            ? await openStream(path, headers)
            : await sender.send(method.toUpperCase(), path, body, headers);
        statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
        if (answer.status >= 500 && !isDocumented(answer))
          wrong.push(`${answer.status} ${JSON.stringify(answer.body)}: ${described}`);
      } catch (error) {
        wrong.push(`${(error as Error).message}: ${described}`);
      }
    };
    for (let at = 0; at < samples.length && wrong.length < 5; at += inFlight) {
      await Promise.all(samples.slice(at, at + inFlight).map(send));
    }
    if (wrong.length > 0)
      throw new Error(`seed ${seed}:\n${wrong.map((line) => line.slice(0, 2_000)).join('\n')}`);
    if (rounds(false, true))
      process.stderr.write(`${operation.operationId} ${JSON.stringify([...statuses])}\n`);
  },
);

/** Opens a stream, which has no end, and closes it. */
async function openStream(path: string, headers: Record<string, string>) {
  const { status, body } = await fetch(shared.url + path, {
    headers: { ...headers, Authorization: `Bearer ${client.key}` },
  });
  await body?.cancel();
  return { status, body: {} };
}

/**
 * Some errors with 5xx are documented: unknown agents, failed tools and webhooks
 * (docs/reference/errors.md).
 */
const isDocumented = ({ status, body }: { status: number; body: { code?: string } }): boolean =>
  (status === 500 && body.code !== undefined && body.code !== 'internal_error') ||
  // No provider is configured for the model of a request, or a service is not part of this run.
  (status === 502 && body.code === 'model_not_configured') ||
  (status === 503 && body.code === 'service_not_deployed');
