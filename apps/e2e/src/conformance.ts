import {
  type OpenApiContent,
  type OpenApiDocument,
  type OpenApiOperation,
  openApiDocument,
} from '@parley/contracts';
import Ajv2020, { type ValidateFunction } from 'ajv/dist/2020';

/** A response; `body` is the parsed JSON. */
export interface Answer {
  status: number;
  headers: Headers;
  // Tests read responses like a client without types.
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- see above
  body: any;
}

/** The document as served at `/openapi.json`. */
export const openApi = JSON.parse(JSON.stringify(openApiDocument())) as OpenApiDocument;

const ajv = new Ajv2020({ strict: false, logger: false });
ajv.addSchema({ $id: 'parley', ...openApi });
const validators = new WeakMap<OpenApiContent, ValidateFunction>();

function validatorOf(content: OpenApiContent): ValidateFunction {
  let validate = validators.get(content);
  if (validate === undefined) {
    const text = JSON.stringify(content.schema).replaceAll('"#/components', '"parley#/components');
    validators.set(content, (validate = ajv.compile(JSON.parse(text) as object)));
  }
  return validate;
}

const templates = Object.entries(openApi.paths).map(([template, methods]) => ({
  methods,
  pattern: new RegExp(`^${template.replace(/\{\w+\}/g, '[^/]+').replaceAll('.', '\\.')}$`),
  parameters: template.split('{').length - 1,
}));

/**
 * The operations of a concrete path by method. If two templates match, the one with fewer
 * parameters takes precedence.
 */
function methodsOf(path: string): Record<string, OpenApiOperation> | undefined {
  const found = templates.filter(({ pattern }) => pattern.test(path));
  if (found.length === 0) return undefined;
  found.sort((a, b) => b.parameters - a.parameters);
  return Object.assign({}, ...found.map(({ methods }) => methods));
}

/** Describes how a response of the gateway violates the OpenAPI document; null if it conforms. */
export function violationOf(method: string, url: string, answer: Answer): string | null {
  const { status, headers, body } = answer;
  const path = url.split('?')[0]!;
  const problem = (text: string) =>
    `${method} ${path} answered ${status}, ${text}: ${JSON.stringify(body)?.slice(0, 500)}`;
  if (!headers.get('x-request-id')) return problem('without X-Request-Id');
  const methods = methodsOf(path);
  if (methods === undefined)
    return status === 404 && body.error ? null : problem('and the path is not described');
  const operation = methods[method === 'HEAD' ? 'get' : method.toLowerCase()];
  if (operation === undefined) {
    return [404, 405].includes(status) ? null : problem('and the method is not described');
  }
  // The gateway answers a path that cannot be decoded with 404, even if it matches a template.
  if (status === 404 && body.code === 'unknown_path') return null;
  const response = operation.responses[status];
  if (response === undefined) return problem('which is not described');
  if (method === 'HEAD' || response.content === undefined) return null;
  const [type, content] = Object.entries(response.content)[0]!;
  if (!headers.get('content-type')?.startsWith(type))
    return problem(`as ${headers.get('content-type')}`);
  // An error of JSON-RPC has only the fields of that protocol.
  const isOurs = status >= 400 && body.jsonrpc === undefined;
  if (isOurs && body.requestId !== headers.get('x-request-id'))
    return problem('with two request ids');
  const validate = validatorOf(content);
  return validate(body) ? null : problem(ajv.errorsText(validate.errors));
}
