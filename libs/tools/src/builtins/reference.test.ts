import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { builtInTools } from './create-built-ins';

const page = readFileSync(resolve(__dirname, '../../../../docs/reference/tools.md'), 'utf8');
const cellsOf = (line: string) =>
  line
    .split(/(?<!\\)\|/)
    .map((cell) => cell.trim())
    .slice(1, -1);
const namesIn = (cell: string) => [...cell.matchAll(/`([^`]+)`/g)].map(([, name]) => name!);

/** The arguments of a tool in the reference, with whether they are required. */
function argumentsOf(tool: string): Record<string, boolean> {
  const section = page.split(`### \`${tool}\`\n`)[1]!.split(/^##/m)[0]!;
  const table =
    section
      .split('| argument | type | required | meaning |\n|---|---|---|---|\n')[1]
      ?.split('\n\n')[0] ?? '';
  const rows = table.trim().split('\n').map(cellsOf);
  return Object.fromEntries(
    rows.flatMap(([names, , required]) =>
      namesIn(names!).map((name) => [name, required === 'yes']),
    ),
  );
}

test.each(builtInTools.map((tool) => [tool.name, tool] as const))(
  'the reference has the arguments of %s',
  (name, tool) => {
    const { properties, required = [] } = tool.parameters as {
      properties: object;
      required?: string[];
    };
    const expected = Object.keys(properties).map((key) => [key, required.includes(key)]);
    expect(argumentsOf(name)).toEqual(Object.fromEntries(expected));
  },
);

test.each(builtInTools.map((tool) => [tool.name, tool] as const))(
  'the reference has the permission of %s',
  (name, tool) => {
    const row = page.split('\n').find((line) => line.startsWith(`| [\`${name}\`](`))!;
    expect(namesIn(cellsOf(row)[2]!).concat(name === 'entity.unlink' ? 'update' : [])).toContain(
      tool.needs.action,
    );
  },
);

/** The paths of the arguments of a schema, at every depth, that have no description. */
function undescribed(schema: unknown, path = ''): string[] {
  const {
    properties = {},
    items,
    anyOf = [],
  } = schema as { properties?: object; items?: unknown; anyOf?: unknown[] };
  return [
    ...Object.entries(properties).flatMap(([name, field]) => [
      ...(field.description ? [] : [`${path}${name}`]),
      ...undescribed(field, `${path}${name}.`),
    ]),
    ...(items === undefined ? [] : undescribed(items, path)),
    ...anyOf.flatMap((one) => undescribed(one, path)),
  ];
}

test.each(builtInTools.map((tool) => [tool.name, tool] as const))(
  'every argument of %s is described',
  (_name, tool) => {
    expect(undescribed(tool.parameters)).toEqual([]);
  },
);
