import Ajv2020 from 'ajv/dist/2020';
import { operations } from '../operations/operations';
import { type OpenApiContent, openApiDocument } from './document';

const document = JSON.parse(JSON.stringify(openApiDocument())) as ReturnType<
  typeof openApiDocument
>;
const ajv = new Ajv2020({ strict: false, logger: false });
ajv.addSchema({ $id: 'parley', ...document });
const described = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ name: `${method} ${path}`, operation })),
);
const contents = described.flatMap(({ name, operation }) => [
  ...Object.values(operation.requestBody?.content ?? {}).map((content) => ({
    name: `${name} body`,
    content,
  })),
  ...Object.entries(operation.responses).flatMap(([status, response]) =>
    Object.values(response.content ?? {}).map((content) => ({
      name: `${name} ${status}`,
      content,
    })),
  ),
]);

/**
 * References are relative to the document, so every schema is compiled with the
 * document as its base.
 */
const compile = ({ schema }: OpenApiContent) =>
  ajv.compile(
    JSON.parse(JSON.stringify(schema).replaceAll('"#/components', '"parley#/components')) as object,
  );

test('the document describes every operation once', () => {
  expect(described.map(({ operation }) => operation.operationId).sort()).toEqual(
    Object.values(operations)
      .map(({ id }) => id)
      .sort(),
  );
});

test('every parameter and every field of a schema has a description: a sentence', () => {
  type Schema = Record<string, unknown>;
  const isObject = (value: unknown): value is Schema => typeof value === 'object' && value !== null;
  const missing: string[] = [];
  const check = (description: unknown, name: string): void => {
    if (typeof description !== 'string' || !/^[A-Z\d`].{8,}[.:`\])]$/s.test(description))
      missing.push(`${name}: ${description}`);
  };
  const visit = (schema: unknown, name: string): void => {
    if (!isObject(schema)) return;
    for (const [field, one] of Object.entries(
      (schema.properties ?? {}) as Record<string, Schema>,
    )) {
      check(one.description, `${name}.${field}`);
      visit(one, `${name}.${field}`);
    }
    for (const inner of [
      schema.items,
      schema.additionalProperties,
      schema.anyOf,
      schema.oneOf,
      schema.allOf,
    ].flat())
      visit(inner, name);
  };
  for (const [name, schema] of Object.entries(document.components.schemas)) visit(schema, name);
  for (const { name, content } of contents) visit(content.schema, name);
  for (const { name, operation } of described)
    for (const parameter of operation.parameters)
      check(parameter.description, `${name} ${parameter.name}`);
  expect([...new Set(missing)]).toEqual([]);
});

test('every reference has a target', () => {
  const references = new Set(
    JSON.stringify(document)
      .match(/"#\/[^"]+"/g)!
      .map((text) => JSON.parse(text) as string),
  );
  const dangling = [...references].filter((reference) => {
    const found = reference
      .slice(2)
      .split('/')
      .reduce<unknown>(
        (value, key) => (value as Record<string, unknown> | undefined)?.[key],
        document,
      );
    return found === undefined;
  });
  expect(dangling).toEqual([]);
});

test('every body and every response has an example, and the example matches the schema', () => {
  const without = contents.filter(
    ({ name, content }) =>
      !content.examples && !/openapi.json|docs|media|widget\/(v1|demo)/.test(name),
  );
  expect(without.map(({ name }) => name)).toEqual([]);
  const wrong = contents.flatMap(({ name, content }) => {
    const validate = compile(content);
    return Object.values(content.examples ?? {}).flatMap(({ value }) =>
      validate(value) ? [] : [`${name}: ${ajv.errorsText(validate.errors)}`],
    );
  });
  expect(wrong).toEqual([]);
});

test('every error has the Error schema, and an operation with an API key lists the errors of keys', () => {
  for (const { name, operation } of described) {
    const statuses = Object.keys(operation.responses);
    if (operation.security.some((one) => 'apiKey' in one)) {
      expect([name, statuses]).toEqual([
        name,
        expect.arrayContaining(['401', '403', '500', '503']),
      ]);
    }
    if (operation.requestBody)
      expect([name, statuses]).toEqual([name, expect.arrayContaining(['400', '413', '415'])]);
    for (const [status, { content }] of Object.entries(operation.responses).filter(
      ([status]) => status >= '4',
    )) {
      const text = JSON.stringify(content!['application/json']!.schema);
      expect([name, status, /schemas\/(Error|RateLimited)"/.test(text)]).toEqual([
        name,
        status,
        true,
      ]);
    }
  }
});

test('a response with a field that is not in its schema is invalid', () => {
  const validate = compile(
    document.paths['/v1/data/{type}/{id}']!.get!.responses['200']!.content!['application/json']!,
  );
  const entity = {
    id: 'a',
    type: 'b',
    status: 'active',
    data: { x: 1 },
    createdAt: 1,
    updatedAt: 1,
  };
  expect(validate(entity)).toBe(true);
  expect(validate({ ...entity, more: 1 })).toBe(false);
  expect(validate({ ...entity, createdAt: '1' })).toBe(false);
});
