import { loadTypescript } from '../start/load-typescript.mjs';

const place = '#/components/schemas/';
const json = 'application/json';
/** The components that libs/client declares. Others are written where they are used. */
const declared = ['Json', 'JsonObject', 'Entity'];

const head = `// Written by \`node tools/reference.mjs\` from the operations in libs/contracts/src/operations/manage. Change them, not this file.
import type { Entity } from '../data-types';
import type { Json, JsonObject } from '../json';
import type { CallOptions } from '../request';
`;

/** Returns the text of libs/client/src/generated/management.ts. */
export async function managementClient() {
  const { openApiDocument, operationsOf, typeText } = await loadTypescript(
    `export { openApiDocument, operationsOf } from './libs/contracts/src/index';
     export { typeText } from './apps/cli/src/types/type-text';`,
    'management-client',
  );
  const { paths, components } = openApiDocument();
  const operations = Object.values({ ...operationsOf.manage, ...operationsOf.toolSecrets });
  const textOf = (schema, indent) =>
    typeText(schema, (ref) => nameOf(ref.slice(place.length), indent), indent).replaceAll(
      "'true' | 'false'",
      'boolean',
    );
  const nameOf = (name, indent) =>
    declared.includes(name) ? name : textOf(components.schemas[name], indent);

  const routes = operations.map((one) => {
    const path = one.path.replace(/^\/v1\//, '');
    const kind = isRaw(one) ? ' raw' : one.idempotent ? ' once' : '';
    return `  ${one.id}: '${one.method.toUpperCase()} ${path}${kind}',`;
  });
  const methods = operations.map((one) => {
    const { requestBody, parameters, responses } =
      paths[one.path.replace(/:(\w+)/g, '{$1}')][one.method];
    const fields = parameters.filter((parameter) => parameter.in !== 'header');
    const body = requestBody?.content[json]?.schema;
    const clash = fields.find(({ name }) => body?.properties?.[name] !== undefined);
    if (clash !== undefined)
      throw new Error(`${one.id}: ${clash.name} is in the path or query, and in the body`);
    const types = [fields.length > 0 && objectOf(fields), body]
      .filter(Boolean)
      .map((schema) => textOf(schema, '  '));
    const needed =
      fields.some(({ required }) => required) ||
      body?.required?.length > 0 ||
      body?.anyOf !== undefined;
    const answer = isRaw(one)
      ? 'Response'
      : textOf(responses[one.status ?? 200].content[json].schema, '  ');
    const text = [`${one.summary}.`, one.description]
      .filter(Boolean)
      .join(' ')
      .replaceAll('*/', '*\\/');
    const input = types.join(' & ') || 'Record<string, never>';
    return `  /** ${text} */\n  ${one.id}(input${needed ? '' : '?'}: ${input}, options?: CallOptions): Promise<${answer}>;`;
  });
  return [
    head,
    '/** Method, path below `/v1`, and `once` for operations that take an idempotency key or `raw` for files. */',
    `export const routes: Record<string, string> = {\n${routes.join('\n')}\n};\n`,
    `/** The operations of the management API by their \`operationId\`. */`,
    `export interface ManageClient {\n${methods.join('\n')}\n}\n`,
  ].join('\n');
}

const isRaw = ({ responseType = json }) => responseType !== json;

const objectOf = (parameters) => ({
  type: 'object',
  required: parameters.filter(({ required }) => required).map(({ name }) => name),
  properties: Object.fromEntries(
    parameters.map(({ name, description, schema }) => [name, { ...schema, description }]),
  ),
});
