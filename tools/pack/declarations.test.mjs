import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import ts from 'typescript';
import { pack } from '../pack.mjs';
import { loadTypescript } from '../start/load-typescript.mjs';
import { root } from '../start/paths.mjs';
import { bundleDeclarations } from './declarations.mjs';

let folder;
before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'parley-declarations-'));
  const tarball = await pack('definitions', folder);
  const target = join(folder, 'node_modules', '@parley', 'definitions');
  mkdirSync(target, { recursive: true });
  execFileSync('tar', ['xzf', tarball, '--strip-components=1', '-C', target]);
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
});
after(() => rmSync(folder, { recursive: true, force: true }));

/** What an editor knows about a file of a project that has installed the package. */
function openInEditor(name, text, others = {}) {
  const file = join(folder, name);
  const files = { [name]: text, ...others };
  for (const [one, content] of Object.entries(files)) writeFileSync(join(folder, one), content);
  const options = {
    module: ts.ModuleKind.ESNext,
    moduleResolution: ts.ModuleResolutionKind.Bundler,
    target: ts.ScriptTarget.ES2023,
    lib: ['lib.es2023.d.ts', 'lib.dom.d.ts'],
    types: [],
    strict: true,
    noEmit: true,
  };
  const host = ts.createCompilerHost(options);
  const service = ts.createLanguageService({
    getCompilationSettings: () => options,
    getScriptFileNames: () => Object.keys(files).map((one) => join(folder, one)),
    getScriptVersion: () => '1',
    getScriptSnapshot: (path) => {
      const content = host.readFile(path);
      return content === undefined ? undefined : ts.ScriptSnapshot.fromString(content);
    },
    getCurrentDirectory: () => folder,
    getDefaultLibFileName: ts.getDefaultLibFilePath,
    fileExists: host.fileExists,
    readFile: host.readFile,
    directoryExists: host.directoryExists,
  });
  const problems = [
    ...service.getSyntacticDiagnostics(file),
    ...service.getSemanticDiagnostics(file),
  ];
  return {
    problems: problems.map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n')),
    /** The text that an editor shows for the first occurrence of a word. */
    hover: (word) => {
      const info = service.getQuickInfoAtPosition(file, text.indexOf(word));
      return ts.displayPartsToString(info.documentation);
    },
  };
}

test('an editor shows the description of each field of a definition', () => {
  const { problems, hover } = openInEditor(
    'agent.ts',
    `import { defineAgent, defineData, defineTrigger } from '@parley/definitions';
     export const agent = defineAgent({ slug: 'a', name: 'A', systemPrompt: '', model: { model: 'x/y', temperature: 1 } });
     export const data = defineData({ slug: 'd', name: 'D', schema: { a: 'string' }, searchFields: ['a'] });
     export const trigger = defineTrigger({
       slug: 't', name: 'T', on: { schedule: '* * * * *' }, actions: [], retry: { maxAttempts: 2, backoffMs: 5 },
     });
     // @ts-expect-error -- not a number
     defineAgent({ slug: 'a', name: 'A', systemPrompt: '', model: { model: 'x/y', temperature: 'hot' } });
     // @ts-expect-error -- no such kind of change
     defineTrigger({ slug: 't', name: 'T', on: { entityType: 'd', action: 'made' }, actions: [] });`,
  );
  assert.deepEqual(problems, []);
  assert.equal(
    hover('systemPrompt'),
    'The instructions for the model. A template, which is compiled for each turn: `Today is {{today}}.`',
  );
  assert.equal(hover('temperature'), "0 to 2. Default: the provider's.");
  assert.match(
    hover('searchFields'),
    /^Fields of `data` that a search reads, .* Default: none\.$/s,
  );
  assert.match(hover('schema:'), /^The fields of `data`: a flat map of field to type name/);
  assert.match(hover('schedule:'), /^When the trigger runs: a cron expression of five fields/);
  assert.match(hover('backoffMs'), /^Milliseconds before the second attempt/);
});

const tool = (
  handler,
  parameters = "{ type: 'object', properties: { id: { type: 'string' }, note: { enum: ['a', 'b'] } }, required: ['id'] }",
) => `
  defineTools([{ name: 'shop.ship', description: 'Ships', parameters: ${parameters}, ${handler} }]);`;

test('handlers have the types of their parameters, their context, and the entity types of the generated file', async () => {
  const { declarationFile } = await loadTypescript(
    `export { declarationFile } from './apps/cli/src/types/declaration-file'`,
    'declaration-file',
  );
  const generated = declarationFile({
    entityTypes: [
      {
        slug: 'order',
        name: 'Order',
        schema: {
          total: { type: 'number', required: true, description: 'With tax' },
          state: 'string',
        },
      },
    ],
    tools: [
      {
        name: 'shop.tax.of',
        description: 'Tax',
        parameters: {
          type: 'object',
          properties: { total: { type: 'number' } },
          required: ['total'],
        },
        handlerCode: '1',
      },
    ],
  });
  const { problems, hover } = openInEditor(
    'handlers.ts',
    `import { defineTools } from '@parley/definitions';
    ${tool(`async handler(args, context, parley, fetch) {
      const id: string = args.id;
      const note: 'a' | 'b' | undefined = args.note;
      // @ts-expect-error -- not a parameter
      void args.other;
      const environment: 'development' | 'production' = context.environment;
      const secret: string = context.secrets.CARRIER_KEY!.trim();
      // @ts-expect-error -- not in the context
      void context.agent;
      const order = await parley.entity.get({ type: 'order', id });
      const total: number = order.data.total.valueOf();
      // @ts-expect-error -- not a field
      void order.data.totl;
      // @ts-expect-error -- total is missing
      await parley.entity.create({ type: 'order', data: { state: 'new' } });
      await parley.entity.update({ type: 'order', id, data: { state: null } });
      const { data, hasMore } = await parley.entity.query({ type: 'order', filters: { 'data.total': { $gt: 3 } }, limit: 5 });
      const states: (string | null | undefined)[] = data.map((one) => one.data.state);
      // @ts-expect-error -- no such tool
      await parley.entity.find({ type: 'order' });
      await parley.shop.tax.of({ total });
      // @ts-expect-error -- total is missing
      await parley.shop.tax.of({});
      await parley.web.fetch({ url: 'https://example.com' });
      const payment = await parley.entity.get({ type: 'payment', id });
      const untyped: number = payment.data.amount + (await parley.entity.get({ id })).data.any;
      return { note, environment, secret, hasMore, states, untyped, answer: await fetch('https://example.com') };
    }`)}
    ${tool('handler: ({ id }) => id.length')}
    ${tool('handler({ total }: { total: number }) { return total; }', "{ type: 'object' }")}
    ${tool("handlerCode: 'return 1'")}
    // @ts-expect-error -- not a field of a tool
    ${tool("handlerCode: 'return 1', templateOly: true").trim()}`,
    { 'parley.d.ts': generated },
  );
  assert.deepEqual(problems, []);
  assert.equal(hover('total.valueOf'), 'With tax');
  assert.match(hover('parameters'), /^JSON Schema of the arguments/);
  assert.equal(hover('description'), 'What the tool does and when to call it. Models read it.');
});

test('without a generated file the data of entities is any', () => {
  const { problems } = openInEditor(
    'untyped.ts',
    `import { defineTools } from '@parley/definitions';
    ${tool(`async handler({ id }, context, parley) {
      const { data } = (await parley.entity.get({ id })) as { data: { total: number } };
      const order = await parley.entity.create({ type: 'order', data: { total: 1 } });
      return [data.total, order.data.total.toFixed(), await parley.shop.discount({ total: 1 })];
    }`)}`,
  );
  assert.deepEqual(problems, []);
});

test('the written types are those of the schemas, in lines that can be read', async () => {
  const text = await bundleDeclarations('definitions');
  assert.deepEqual(
    text.split('\n').filter((line) => line.length > 200 && !line.startsWith('export {')),
    [],
  );
  const names = [
    'AgentDefinition',
    'EntityTypeDefinition',
    'RoleDefinition',
    'RouterDefinition',
    'ToolDefinition',
    'TriggerDefinition',
  ];
  const packed = text.replace(
    /^export \{.*\};$/m,
    `export { ${names.map((name) => `type ${name}`).join(', ')} };`,
  );
  const file = join(folder, 'packed.d.ts');
  writeFileSync(file, packed);
  const same = `type Same<A, B> = [A, B] extends [B, A] ? true : false;\n`;
  const lines = names.map(
    (name) => `export const ${name}: Same<packed.${name}, contracts.${name}> = true;`,
  );
  const check = join(folder, 'same.ts');
  writeFileSync(
    check,
    `import type * as contracts from '@parley/contracts';\nimport type * as packed from './packed';\n${same}${lines.join('\n')}\n`,
  );
  const { config } = ts.readConfigFile(join(root, 'tsconfig.base.json'), ts.sys.readFile);
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, root);
  const program = ts.createProgram([check], {
    ...options,
    incremental: false,
    composite: false,
    noEmit: true,
    types: [],
  });
  const problems = program.getSemanticDiagnostics(program.getSourceFile(check));
  assert.deepEqual(
    problems.map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n')),
    [],
  );
});
