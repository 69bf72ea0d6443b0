import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadModule } from './load-module';

const folder = mkdtempSync(join(tmpdir(), `parley-cli-${process.pid}-`));
afterAll(() => rmSync(folder, { recursive: true }));

/** The handler code of the only tool of a file. */
async function handlerCodeOf(source: string): Promise<string> {
  const file = join(folder, 'tool.ts');
  writeFileSync(file, source);
  const loaded = await loadModule(file);
  if (!loaded.ok) throw new Error(loaded.message);
  return (loaded.exports.default as { handlerCode: string }[])[0]!.handlerCode;
}

const toolWith = (handler: string): string => `
import { defineTools } from '@parley/definitions';

interface Line { price: number; count: number }

export default defineTools([{
  name: 'shop.total', description: 'Total.', parameters: { type: 'object' },
  handler: ${handler} }]);`;

const handler = `async (args: { lines: Line[] }) => {
  // A comment, and a blank line.

  const text = \`first

    \${args.lines.length}
last\`;
  if (args.lines.length === 0) return { text, line: 8 };
  const total = args.lines.reduce((sum: number, { price, count }: Line) => { return sum + price * count; }, 0);

  /* Another
     comment. */
  throw new Error('line 13');
}`;

it('preserves the line numbers of a handler', async () => {
  const code = await handlerCodeOf(toolWith(handler));
  const lines = code.split('\n');
  expect(lines[7]).toContain('line: 8');
  expect(lines[8]).toContain('price * count');
  expect(lines[12]).toContain('line 13');
  // The lines of a template literal are part of its value and must not change.
  const run = new Function('args', 'context', 'parley', 'fetch', code) as (
    args: object,
  ) => Promise<{ text: string }>;
  expect((await run({ lines: [] })).text).toBe('first\n\n    0\nlast');
});
