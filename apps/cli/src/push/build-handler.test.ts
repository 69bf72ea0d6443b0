import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { ToolDefinition } from '@parley/contracts';
import { nameLine } from './build-handler';
import { loadFolder } from './load-folder';

const roots: string[] = [];
afterAll(() => roots.forEach((root) => rmSync(root, { recursive: true })));

/** Loads a project of these files and returns its tools by name. */
async function load(files: Record<string, string>) {
  const root = mkdtempSync(join(tmpdir(), `parley-cli-${process.pid}-`));
  roots.push(root);
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, name)), { recursive: true });
    writeFileSync(join(root, name), text);
  }
  const loaded = await loadFolder(root);
  const tools = new Map((loaded.resources.tools ?? []).map((tool) => [tool.name, tool]));
  return { root, loaded, tools };
}

const head = "import { defineTools } from '@parley/definitions';\n";
const tool = (name: string, handler: string) =>
  `{ name: '${name}', description: 'x', parameters: { type: 'object' },\n  ${handler} }`;
const fileOf = (...tools: string[]) => `export default defineTools([${tools.join(', ')}]);\n`;

const run = (definition: ToolDefinition | undefined, args: object = {}): Promise<unknown> => {
  const names = ['args', 'context', 'parley', 'fetch'];
  const body = new Function(...names, `return (async () => { ${definition!.handlerCode}\n})()`);
  return body(args, {}, {}, undefined) as Promise<unknown>;
};

test('a handler that only uses its parameters and the sandbox is stored as its source', async () => {
  const handler =
    'async handler({ n }, context, parley, fetch) { return new URL("https://x.y/" + n).href + parley.a }';
  const { tools, loaded } = await load({
    'tools/a.ts': `${head}const VAT = 1;\n${fileOf(tool('shop.a', handler))}`,
  });
  expect(tools.get('shop.a')!.handlerCode).toMatch(
    /^return \(Object\.values\(\{ async handler\(\{ n \}, context, parley, fetch\) \{[^]*\} \}\)\[0\]\)\(args, context, parley, fetch\);$/,
  );
  expect(tools.get('shop.a')!.handlerCode).not.toContain('VAT');
  expect([loaded.problems, loaded.warnings]).toEqual([[], []]);
});

test('the variables and imports that a handler uses come with it, shared ones with each', async () => {
  const { tools, loaded } = await load({
    'tools/_prices.ts':
      'import { round } from "../lib/round.js";\nexport enum Rate { Low = 5, Full = 19 }\nexport const withVat = (n: number) => round(n * (1 + Rate.Full / 100));\n',
    'lib/round.ts': 'export const round = (n: number) => Math.round(n * 100) / 100;\n',
    'tools/_text.txt': 'Größe: ñ ✓',
    'tools/_rates.json': '{ "usd": 950 }',
    'tools/shop.ts': `${head}import { withVat } from './_prices';\nimport note from './_text.txt';\nimport rates from './_rates.json';\nconst SHIPPING = 3;\n${fileOf(
      tool('shop.total', 'handler: ({ n }: { n: number }) => withVat(n) + SHIPPING'),
      tool('shop.note', 'handler() { return `${note} ${rates.usd} ${withVat(1)}` }'),
      tool('shop.plain', 'handler: () => 1'),
    )}`,
  });
  expect(loaded.problems).toEqual([]);
  expect(await run(tools.get('shop.total'), { n: 10 })).toBe(14.9);
  expect(await run(tools.get('shop.note'))).toBe('Größe: ñ ✓ 950 1.19');
  expect(tools.get('shop.plain')!.handlerCode).toBe(
    'return (() => 1)(args, context, parley, fetch);',
  );
});

test('the code is the same in every folder, and with Windows line ends', async () => {
  const files = {
    'tools/_a.ts': 'export const A = 1;\n',
    'tools/b.ts': `${head}import { A } from './_a';\n\n${fileOf(tool('x.y', 'handler: () => A'))}`,
  };
  const crlf = Object.fromEntries(
    Object.entries(files).map(([name, text]) => [name, text.replaceAll('\n', '\r\n')]),
  );
  const [one, two, three] = await Promise.all([load(files), load(files), load(crlf)]);
  expect(two.tools.get('x.y')).toEqual(one.tools.get('x.y'));
  expect(three.tools.get('x.y')).toEqual(one.tools.get('x.y'));
});

test('handlers may come from a function, and their modules may import each other', async () => {
  const { tools } = await load({
    'tools/_a.ts':
      "import { b } from './_b';\nexport const a = (n: number): number => (n > 0 ? b(n - 1) : 0);\n",
    'tools/_b.ts': "import { a } from './_a';\nexport const b = (n: number): number => 1 + a(n);\n",
    'tools/c.ts': `${head}import { a } from './_a';\nconst times = (k: number) => async ({ n }: { n: number }) => k * a(n);\n${fileOf(
      tool('x.twice', 'handler: times(2)'),
      tool('x.thrice', 'handler: times(3)'),
    )}`,
  });
  expect([
    await run(tools.get('x.twice'), { n: 4 }),
    await run(tools.get('x.thrice'), { n: 4 }),
  ]).toEqual([8, 12]);
});

test('a name of the sandbox that the file declares itself is the one of the file', async () => {
  const { tools } = await load({
    'tools/_retry.ts': 'export const fetch = (text: string) => `retried ${text}`;\n',
    'tools/a.ts': `${head}import { fetch } from './_retry';\nfunction escape(text: string) { return '<' + text + '>'; }\n${fileOf(
      tool('x.escape', 'handler: () => escape("a")'),
      tool('x.fetch', 'handler: () => fetch("a")'),
      tool('x.own', 'handler: (args, context, parley, fetch) => typeof fetch'),
    )}`,
  });
  expect(await run(tools.get('x.escape'))).toBe('<a>');
  expect(await run(tools.get('x.fetch'))).toBe('retried a');
  expect(await run(tools.get('x.own'))).toBe('undefined');
  expect(tools.get('x.own')!.handlerCode).not.toContain('retried');
});

test('a name that neither the file nor the sandbox has is a warning', async () => {
  const { tools, loaded } = await load({
    'tools/a.ts': `${head}const A = 1;\n${fileOf(
      tool('x.env', 'handler: () => process.env.KEY'),
      tool('x.engine', 'handler: () => new Intl.NumberFormat().format(1)'),
      tool('x.both', 'handler: () => A + Buffer.from("a").length'),
    )}`,
  });
  expect(loaded.warnings).toEqual([
    'tools/a.ts: x.env: the handler uses process, which neither its file nor the sandbox has',
    'tools/a.ts: x.engine: the handler uses Intl, which neither its file nor the sandbox has',
    'tools/a.ts: x.both: the handler uses Buffer, which neither its file nor the sandbox has',
  ]);
  expect(tools.get('x.env')!.handlerCode).toBe(
    'return (() => process.env.KEY)(args, context, parley, fetch);',
  );
});

test('what the sandbox does not have is a problem', async () => {
  const { loaded } = await load({
    'tools/a.ts': `${head}import { readFileSync } from 'node:fs';\n${fileOf(tool('x.read', 'handler: () => readFileSync("/etc/passwd", "utf8")'))}`,
    'tools/b.ts': `${head}const text = '${'x'.repeat(270_000)}';\n${fileOf(tool('x.large', 'handler: () => text'))}`,
  });
  expect(loaded.problems).toEqual([
    expect.stringMatching(
      /^tools\/a\.ts: x\.read: the handler cannot be bundled with its imports: Could not resolve "node:fs" \(a\.ts:2\)$/,
    ),
    expect.stringMatching(
      /^tools\/b\.ts: x\.large: the handler has \d+ characters with what it imports; at most 262144 are allowed$/,
    ),
  ]);
});

test('lines of a handler are found in its file and in the files that it imports', async () => {
  const { root, loaded, tools } = await load({
    'tools/_check.ts':
      "// Checks.\nexport function check(n: number) {\n  if (n < 0) throw new Error('negative');\n}\n",
    'tools/a.ts': `${head}import { check } from './_check';\n\nconst A = 1;\n${fileOf(
      tool('x.bundled', 'handler({ n }: { n: number }) {\n    check(n);\n    return A;\n  }'),
      tool('x.plain', 'handler() {\n    // A comment.\n\n    return 5;\n  }'),
    )}`,
    // Properties that share a line, which esbuild writes on lines of their own.
    'tools/b.ts': `${head}export default defineTools([{ name: 'y.one', description: 'x', parameters: { type: 'object' }, handler() { return 1; } },
{ name: 'y.two', description: 'x', parameters: { type: 'object' }, async handler() { throw new Error('at three'); } },
{ name: 'y.three', description: 'x', parameters: { type: 'object' },
  handler() {
    const x = 1;
    throw new Error('at seven');
  } }]);
`,
    'tools/c.ts': `${head}
export default defineTools([
  {
    name: 'z.one', description: 'x', parameters: { type: 'object' },
    handler() {
      throw new Error('at seven');
    },
  },
]);
`,
  });
  const lineOf = (name: string, text: string) =>
    tools
      .get(name)!
      .handlerCode.split('\n')
      .findIndex((line) => line.includes(text)) + 1;
  const named = (name: string, text: string) =>
    nameLine(`failed (line ${lineOf(name, text)}, column 3)`, loaded.handlers.get(name)!, root);
  expect(named('x.bundled', 'check(n);')).toBe('failed (tools/a.ts:7)');
  expect(named('x.bundled', 'negative')).toBe('failed (tools/_check.ts:3)');
  expect(named('x.plain', 'return 5')).toBe('failed (tools/a.ts:13)');
  expect(named('y.two', 'at three')).toBe('failed (tools/b.ts:3)');
  expect(named('y.three', 'at seven')).toBe('failed (tools/b.ts:7)');
  expect(named('z.one', 'at seven')).toBe('failed (tools/c.ts:7)');
  expect(nameLine('failed (line 1)', loaded.handlers.get('x.bundled')!, root)).toBe(
    'failed (line 1)',
  );
});
