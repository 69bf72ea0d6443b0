import type { z } from 'zod';
import type { Operation, ErrorExample } from '../operations/operation';
import { operations } from '../operations/operations';
import { type SchemaObject, toSchemas } from './components';
import { tags } from './tags';

export interface OpenApiDocument {
  openapi: '3.1.0';
  info: {
    title: string;
    version: string;
    description: string;
    license: { name: string; identifier: string };
  };
  servers: { url: string; description: string }[];
  tags: { name: string; description: string }[];
  paths: Record<string, Record<string, OpenApiOperation>>;
  components: {
    schemas: Record<string, SchemaObject>;
    securitySchemes: Record<string, object>;
    headers: object;
  };
}

export interface OpenApiOperation {
  operationId: string;
  tags: string[];
  summary: string;
  description?: string;
  security: Record<string, string[]>[];
  parameters: OpenApiParameter[];
  requestBody?: { required: boolean; content: Record<string, OpenApiContent> };
  responses: Record<string, OpenApiResponse>;
}

export interface OpenApiParameter {
  name: string;
  in: 'path' | 'query' | 'header';
  required: boolean;
  description: string;
  schema: SchemaObject;
}

export interface OpenApiContent {
  schema: SchemaObject;
  examples?: Record<string, { value: unknown }>;
}

export interface OpenApiResponse {
  description: string;
  headers?: object;
  content?: Record<string, OpenApiContent>;
}

const json = 'application/json';
const all: readonly Operation[] = Object.values(operations);

/**
 * The API as an OpenAPI 3.1 document, generated from the schemas with which the services validate.
 */
export function openApiDocument(): OpenApiDocument {
  const { components, requests, responses } = toSchemas(requestSchemas(), responseSchemas());
  const paths: OpenApiDocument['paths'] = {};
  for (const operation of all) {
    const path = operation.path.replace(/:(\w+)/g, '{$1}');
    (paths[path] ??= {})[operation.method] = describe(operation, requests, responses);
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Parley',
      version: '1.0.0',
      description:
        'Chat with agents over HTTP, and manage the data, tools and definitions that they use. An API key belongs to one environment, `development` (`sk_dev_…`) or `production` (`sk_prod_…`), and every request is limited to it. Every error has the form `{ error, code, requestId, details? }`.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/', description: 'The gateway that serves this document.' }],
    tags,
    paths,
    components: {
      schemas: { ...components, Error: openSchema(components.Error!) },
      securitySchemes: {
        apiKey: {
          type: 'http',
          scheme: 'bearer',
          description: 'An API key: `sk_dev_…` or `sk_prod_…`.',
        },
        session: {
          type: 'apiKey',
          in: 'cookie',
          name: '__Host-parley_session',
          description:
            'The session of a signed-in person. Requests that also accept an API key need the headers `Parley-Organization` and `Parley-Environment`.',
        },
        visitorToken: {
          type: 'http',
          scheme: 'bearer',
          description: "A visitor's token, from `POST /v1/widget/sessions`.",
        },
        executorToken: {
          type: 'http',
          scheme: 'bearer',
          description: 'The `EXECUTOR_TOKEN` of the installation.',
        },
      },
      headers: {
        'X-Request-Id': {
          description:
            'Id of the request in logs: the given `X-Request-Id` if it is well-formed, else a new one.',
          schema: { type: 'string' },
        },
        'Retry-After': {
          description: 'Seconds to wait before a retry.',
          schema: { type: 'integer', minimum: 0 },
        },
      },
    },
  };
}

/**
 * Allows additional properties, because an operation may add fields to its errors. `errorSchema`
 * closes the union.
 */
const openSchema = ({ additionalProperties: _closed, ...schema }: SchemaObject): SchemaObject =>
  schema;

/** `section`: params, query or body. */
const requestKey = ({ id }: Operation, section: string): string => `${id}.${section}`;

const bodyOf = ({ body, documentedBody = body }: Operation): z.ZodType | undefined =>
  documentedBody;

function requestSchemas(): Record<string, z.ZodType> {
  return Object.fromEntries(
    all.flatMap((operation) =>
      Object.entries({
        params: operation.params,
        query: operation.query,
        body: bodyOf(operation),
      }).flatMap(([section, schema]) =>
        schema === undefined ? [] : [[requestKey(operation, section), schema]],
      ),
    ),
  );
}

function responseSchemas(): Record<string, z.ZodType> {
  return Object.fromEntries(
    all.flatMap((operation) => [
      [operation.id, operation.response],
      ...(operation.errorFields === undefined
        ? []
        : [[`${operation.id}.error`, operation.errorFields]]),
    ]),
  );
}

type Schemas = Record<string, SchemaObject>;

function describe(operation: Operation, requests: Schemas, responses: Schemas): OpenApiOperation {
  const { id, tag, summary, description, permission, bodyType, bodyOptional, example } = operation;
  const text = describeText(description, permission, operation.orManage);
  return {
    operationId: id,
    tags: [tag],
    summary,
    ...(text && { description: text }),
    security: securityOf(operation),
    parameters: parametersOf(operation, requests),
    ...(bodyOf(operation) !== undefined && {
      requestBody: {
        required: bodyOptional !== true,
        content: {
          [bodyType ?? json]: contentOf(requests[requestKey(operation, 'body')]!, [example?.body]),
        },
      },
    }),
    responses: {
      [operation.status ?? 200]: {
        description: 'The request succeeded.',
        headers: requestIdHeader,
        content: {
          [operation.responseType ?? json]: contentOf(responses[id]!, [example?.response]),
        },
      },
      ...Object.fromEntries(
        Object.entries(operation.otherResponses ?? {}).map(
          ([status, { description: text, type, example: sent }]) => [
            status,
            {
              description: text,
              headers: requestIdHeader,
              ...(type !== undefined && {
                content: { [type]: contentOf({ type: 'string' }, [sent]) },
              }),
            },
          ],
        ),
      ),
      ...errorsOf(operation, responses[`${id}.error`]),
    },
  };
}

function securityOf({ permission, people, security }: Operation): Record<string, string[]>[] {
  if (permission !== null)
    return people === undefined ? [{ apiKey: [] }] : [{ apiKey: [] }, { session: [] }];
  if (security === 'visitor') return [{ visitorToken: [] }];
  if (security === 'executor') return [{ executorToken: [] }];
  return security === 'session' ? [{ session: [] }] : [];
}

const describeText = (
  text: string | undefined,
  permission: Operation['permission'],
  orManage = false,
): string =>
  [
    text,
    permission === null
      ? ''
      : `Requires the \`${permission}\`${orManage ? ' or the `manage`' : ''} permission.`,
  ]
    .filter(Boolean)
    .join(' ');

const requestIdHeader = { 'X-Request-Id': { $ref: '#/components/headers/X-Request-Id' } };

function contentOf(schema: SchemaObject, examples: unknown[]): OpenApiContent {
  const given = examples.filter((value) => value !== undefined);
  if (given.length === 0) return { schema };
  return {
    schema,
    examples: Object.fromEntries(given.map((value, at) => [`example${at || ''}`, { value }])),
  };
}

function parametersOf(operation: Operation, requests: Schemas): OpenApiParameter[] {
  const list = (section: 'params' | 'query', place: 'path' | 'query'): OpenApiParameter[] => {
    const { properties = {}, required = [] } = (requests[requestKey(operation, section)] ?? {}) as {
      properties?: Schemas;
      required?: string[];
    };
    return Object.entries(properties).map(([name, { description, ...schema }]) => ({
      name,
      in: place,
      required: place === 'path' || required.includes(name),
      description: description as string,
      schema,
    }));
  };
  const header = (name: string, description: string): OpenApiParameter => ({
    name,
    in: 'header',
    required: false,
    description,
    schema: { type: 'string' },
  });
  return [
    ...list('params', 'path'),
    ...list('query', 'query'),
    ...(operation.idempotent
      ? [
          header(
            'Idempotency-Key',
            'Makes retries safe: the first response is stored for 24 hours and returned again.',
          ),
        ]
      : []),
    ...Object.entries(operation.headers ?? {}).map(([name, description]) =>
      header(name, description),
    ),
  ];
}

const statusDescriptions: Record<number, string> = {
  400: 'The request is invalid. `details` lists the problems.',
  401: 'The key or signature is missing or invalid.',
  403: 'The key does not allow the request.',
  404: 'The resource does not exist.',
  409: 'The request conflicts with an earlier one.',
  413: 'The body is too large.',
  415: 'The body is compressed.',
  417: 'The `Expect` header is not supported.',
  429: 'Too many requests. Try again at `retryAt`.',
  431: 'The headers are too large.',
  500: 'The request failed for the reason in `code`, or because of an internal error.',
  502: 'An upstream service or provider failed.',
  503: 'The service is temporarily unavailable. Try again after `Retry-After`.',
  504: 'An upstream service or provider did not respond in time.',
};

function errorsOf(
  operation: Operation,
  fields: SchemaObject | undefined,
): Record<string, OpenApiResponse> {
  const entries = Object.entries(errorExamples(operation)).map(([text, examples]) => {
    const status = Number(text);
    const retries = status === 429 || status === 503;
    return [
      text,
      {
        description: statusDescriptions[status] ?? 'An error.',
        headers: {
          ...requestIdHeader,
          ...(retries && { 'Retry-After': { $ref: '#/components/headers/Retry-After' } }),
        },
        content: { [json]: errorContent(operation, status, examples, fields) },
      },
    ] as const;
  });
  return Object.fromEntries(entries);
}

function errorContent(
  { isJsonRpc }: Operation,
  status: number,
  examples: readonly ErrorExample[],
  fields?: SchemaObject,
): OpenApiContent {
  const extra = status === 429 ? { retryAt: 1763683230000 } : {};
  const schema = errorSchema(status, examples, fields);
  return {
    schema: isJsonRpc && status === 400 ? { anyOf: [schema, jsonRpcErrorSchema] } : schema,
    examples: Object.fromEntries(
      examples.map(([code, error]) => [
        code,
        { value: { error, code, requestId: '0b5c2f1e', ...extra } },
      ]),
    ),
  };
}

const jsonRpcErrorSchema: SchemaObject = {
  type: 'object',
  description: 'An error of JSON-RPC: the message or its headers do not conform to the protocol.',
  properties: {
    jsonrpc: { const: '2.0', description: 'Version of the protocol.' },
    id: { type: ['string', 'number', 'null'], description: 'Id of the request, or null.' },
    error: {
      type: 'object',
      description: 'The error.',
      properties: {
        code: { type: 'integer', description: 'Code of JSON-RPC, such as -32600.' },
        message: { type: 'string', description: 'What is wrong.' },
      },
      required: ['code', 'message'],
    },
  },
  required: ['jsonrpc', 'error'],
};

/** The codes of a 500 are a closed list: an operation's own and `internal_error`. */
function errorSchema(
  status: number,
  examples: readonly ErrorExample[],
  fields?: SchemaObject,
): SchemaObject {
  if (status === 429) return { $ref: '#/components/schemas/RateLimited' };
  const ref = { $ref: '#/components/schemas/Error' };
  const restrictions = [
    ...(status === 500
      ? [
          {
            type: 'object',
            properties: {
              code: {
                description: 'Why the request failed.',
                enum: examples.map(([code]) => code),
              },
            },
          },
        ]
      : []),
    ...(fields === undefined ? [] : [openSchema(fields)]),
  ];
  return { allOf: [ref, ...restrictions], unevaluatedProperties: false };
}

const crossSite: ErrorExample = ['cross_site', 'A page of another site must not send this request'];
const missingEnvironment: ErrorExample = [
  'missing_environment',
  'A session needs the header Parley-Environment: development or production',
];
const unauthorized = (code: string): ErrorExample => [code, 'Unauthorized'];

/**
 * Examples by status: the operation's own errors first, then those that follow from
 * its other fields.
 */
function errorExamples(operation: Operation): Record<number, readonly ErrorExample[]> {
  const { permission, people, beyondRoles, security, rateLimited, idempotent, isOwn, errors } =
    operation;
  const found: Record<number, ErrorExample[]> = {};
  const add = (status: number, ...examples: readonly ErrorExample[]) => {
    const known = new Set((found[status] ??= []).map(([code]) => code));
    found[status].push(...examples.filter(([code]) => !known.has(code)));
  };
  for (const [status, examples] of Object.entries(errors ?? {})) add(Number(status), ...examples);
  if (permission !== null)
    add(401, ...['missing_key', 'wrong_scheme', 'unknown_key'].map(unauthorized));
  else if (security === 'session') add(401, unauthorized('no_session'));
  else if (security) add(401, unauthorized('unauthorized'));
  if (people !== undefined) {
    add(
      400,
      ['missing_organization', 'A session needs the header Parley-Organization'],
      missingEnvironment,
    );
    add(401, unauthorized('no_session'));
    add(403, ['not_a_member', 'You are not a member of this organization']);
  }
  if (people !== undefined || security === 'session')
    add(429, ['too_many_unknown_sessions', 'Too many unknown sessions from this address']);
  const isChange = operation.method !== 'get';
  if (operation.sameSite || (isChange && (people !== undefined || security === 'session')))
    add(403, crossSite);
  if (permission !== null)
    add(429, ['too_many_unknown_keys', 'Too many unknown API keys from this address']);
  if (permission !== null)
    add(403, ['missing_permission', `API key does not have ${permission} permission`]);
  if (people !== undefined && people !== 'member')
    add(403, ['requires_admin', 'Only an admin of the organization may do this']);
  if (beyondRoles || permission === 'manage')
    add(403, ['key_has_role', 'A key with a role cannot use this endpoint']);
  if (isOwn) add(431, ['headers_too_large', 'Request headers are too large']);
  else {
    add(400, ['malformed_path', 'Malformed path']);
    add(417, ['expectation_failed', 'Only the expectation 100-continue is supported']);
    add(429, [
      'too_many_concurrent_requests',
      'Too many requests of the caller are being answered at the same time',
    ]);
    add(500, ['internal_error', 'Internal error']);
    add(502, [
      'upstream_failed',
      'The service closed the connection before its answer was complete',
    ]);
    add(
      503,
      ['unavailable', 'Service temporarily unavailable'],
      ['upstream_unavailable', 'The service is temporarily unavailable'],
    );
    add(504, ['upstream_timeout', 'The service did not answer in time']);
  }
  if (bodyOf(operation) !== undefined) {
    add(
      400,
      ['malformed_json', 'Malformed JSON in the request body'],
      ['invalid_body', 'data: must be an object'],
    );
    add(413, ['payload_too_large', 'Request body is larger than 1048576 bytes']);
    add(415, ['unsupported_encoding', 'Compressed request bodies are not supported']);
    add(408, ['request_timeout', 'The request took too long to arrive']);
    add(429, [
      'too_many_unfinished_requests',
      'Too many requests of this address arrive slowly at the same time',
    ]);
    add(429, [
      'too_many_large_bodies',
      'Too many large requests of the organization are being handled at the same time',
    ]);
    add(503, ['busy', 'Too many large requests are being received at the same time']);
  }
  if (rateLimited) add(429, ['rate_limited', 'Rate limit exceeded']);
  if (idempotent) {
    add(409, [
      'idempotency_key_reused',
      'Idempotency-Key was already used with another request body',
    ]);
    add(409, [
      'idempotency_in_progress',
      'The first request with this Idempotency-Key is still running',
    ]);
  }
  return found;
}
