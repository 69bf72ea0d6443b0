import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { JsonObject } from '@parley/contracts';
import { checkTypeSchema } from '@parley/entities';
import ts from 'typescript';
import { declarationFile } from './declaration-file';

jest.setTimeout(60_000);

const root = resolve(__dirname, '../../../..');
const folder = mkdtempSync(join(tmpdir(), 'parley-types-'));
symlinkSync(join(root, 'libs'), join(folder, 'libs'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The errors of TypeScript in the generated file and in a file that uses it. */
function problemsOf(generated: string, use: string): string[] {
  writeFileSync(join(folder, 'parley.d.ts'), generated);
  writeFileSync(join(folder, 'use.ts'), use);
  const program = ts.createProgram([join(folder, 'parley.d.ts'), join(folder, 'use.ts')], {
    module: ts.ModuleKind.ESNext,
    moduleResolution: ts.ModuleResolutionKind.Bundler,
    target: ts.ScriptTarget.ES2024,
    lib: ['lib.es2024.d.ts', 'lib.dom.d.ts'],
    types: [],
    strict: true,
    noEmit: true,
    // The package of the client, whose source has the same types.
    paths: { '@parley/client': [join(root, 'libs/client/src/index.ts')] },
  });
  return ts
    .getPreEmitDiagnostics(program)
    .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'));
}

const type = (slug: string, schema: JsonObject, name = slug) => ({ slug, name, schema });

const order = type(
  'order',
  {
    type: 'object',
    properties: {
      number: { type: 'string', description: 'The number on the invoice' },
      total: { type: 'money' },
      state: { type: 'enum', enum: ['open', "it's paid", null] },
      customer: { references: 'customer' },
      placedAt: 'datetime',
      lines: {
        type: 'array',
        items: {
          type: 'object',
          properties: { sku: 'string', count: 'integer' },
          required: ['sku'],
        },
      },
      tags: { type: 'array', items: 'string' },
      size: { type: ['string', 'number'], required: true },
      'gift note': 'text',
      größe: 'float',
      class: 'boolean',
      extra: 'json',
    },
    required: ['number', 'total'],
  },
  'Order',
);

test('data of the client has the types of the schema', () => {
  const generated = declarationFile({ entityTypes: [order, type('free-form', {})] });
  const problems = problemsOf(
    generated,
    `import { ParleyClient } from '@parley/client';
     import type { EntityTypes, JsonObject } from './parley';
     type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
     const same = <T extends true>(value: T): T => value;
     type Order = EntityTypes['order'];
     same<Same<Order['number'], string>>(true);
     same<Same<Order['total'], number>>(true);
     same<Same<Order['state'], 'open' | "it's paid" | null | undefined>>(true);
     same<Same<Order['customer'], string | null | undefined>>(true);
     same<Same<Order['placedAt'], string | number | null | undefined>>(true);
     same<Same<NonNullable<Order['lines']>[number], { sku: string; count?: number | null }>>(true);
     same<Same<Order['tags'], string[] | null | undefined>>(true);
     same<Same<Order['size'], string | number>>(true);
     same<Same<Order['gift note'], string | null | undefined>>(true);
     same<Same<Order['größe'], number | null | undefined>>(true);
     same<Same<EntityTypes['free-form'], JsonObject>>(true);

     const client = new ParleyClient({ apiKey: 'k', baseUrl: 'http://x' });
     export const number = async (): Promise<string> => (await client.data.get('order', '1')).data.number;
     void client.data.query('order', { filters: { 'data.total': { $gt: 3 }, 'data.state': 'open' }, sort: { field: 'data.größe' } });
     void client.data.create('order', { data: { number: 'a', total: 1, size: 'M', lines: [{ sku: 'x' }] } });
     // @ts-expect-error -- no such type
     void client.data.get('orders', '1');
     // @ts-expect-error -- total is missing
     void client.data.create('order', { data: { number: 'a', size: 'M' } });
     // @ts-expect-error -- not a state
     void client.data.update('order', '1', { data: { state: 'lost' } });
     void new ParleyClient<{ other: { a: string } }>({ apiKey: 'k', baseUrl: 'http://x' }).data.get('other', '1');`,
  );
  expect(problems).toEqual([]);
  expect(generated).toContain('    /** The number on the invoice */\n    number: string;\n');
  expect(generated).toContain(
    '    /** Id of an entity of type customer. */\n    customer?: string | null;\n',
  );
});

test('hostile names and descriptions stay text', () => {
  const schema = {
    type: 'object',
    properties: {
      "a'b\\c\n\u202e*/": {
        type: 'string',
        description: '*/ export const evil = 1; /*\n@ts-expect-error\n@deprecated',
      },
      ['__proto__']: 'string',
      constructor: 'number',
      'x: never; } //': { enum: ["'; } export const evil = 2; //", '\\', '`${1}`'] },
      old: { type: 'a type from before the check' },
      other: 7,
    },
    required: ['constructor'],
  } as unknown as JsonObject;
  const parameters = {
    properties: {
      at: { $ref: 'http://127.0.0.1:1/x.json', tsType: '} evil' },
      '*/': { const: '*/' },
    },
  };
  const tool = { name: 'a.b', description: '*/ evil() /**', parameters, handlerCode: 'return 1' };
  const generated = declarationFile({ entityTypes: [type('x', schema, '*/ evil')], tools: [tool] });
  const use = `import type { EntityTypes, Json, ToolArguments } from './parley';
    export const x: EntityTypes['x'] = { constructor: 1, 'x: never; } //': '\\\\', ['__proto__']: 'a', old: [1], other: null };
    export const given: ToolArguments['a.b'] = { at: {} as Json, '*/': '*/' };
    // @ts-expect-error -- nothing is exported beside the types
    import { evil } from './parley';`;
  expect(problemsOf(generated, use)).toEqual([]);
  expect(generated).not.toContain('\u202e');
  expect(generated.match(/^export /gm)).toHaveLength(4);
  expect(generated).toMatch(/^ +\* \\@ts-expect-error$/m);
});

test('the file does not depend on the order of types and fields, and has no types when there are none', () => {
  const a = type('a', { one: 'string', two: { type: 'number', description: 'D' } });
  const b = type('b', { one: 'string' });
  const turned = type('a', { two: { description: 'D', type: 'number' }, one: 'string' });
  expect(declarationFile({ entityTypes: [b, turned] })).toBe(
    declarationFile({ entityTypes: [a, b] }),
  );
  const use = `import { ParleyClient } from '@parley/client';
    // @ts-expect-error -- there are no types
    void new ParleyClient({ apiKey: 'k', baseUrl: 'http://x' }).data.get('order', '1');`;
  expect(problemsOf(declarationFile({}), use)).toEqual([]);
});

test('200 types of 50 fields are written and compile', () => {
  const fields = Object.fromEntries(
    Array.from({ length: 50 }, (_, at) => [`field${at}`, at % 2 ? 'string' : 'number']),
  );
  const entityTypes = Array.from({ length: 200 }, (_, at) => type(`type-${at}`, fields));
  expect(checkTypeSchema(fields)).toEqual([]);
  const use = `import type { EntityTypes } from './parley';
    export const value: EntityTypes['type-199']['field49'] = 'x';`;
  expect(problemsOf(declarationFile({ entityTypes }), use)).toEqual([]);
});

// A pattern that looks for a line break from each blank would take minutes.
test('a description of blanks takes no quadratic time', () => {
  const description = `a${'\t '.repeat(500_000)}b`;
  const tool = { name: 'a.b', description, parameters: {}, handlerCode: 'return 1' };
  expect(declarationFile({ tools: [tool] })).toContain('a.b');
});
