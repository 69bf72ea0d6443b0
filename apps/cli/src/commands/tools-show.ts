import { describeType, noteOf, rowsOf } from '@parley/contracts';
import { builtInTools } from '@parley/tools';
import { Failure } from '../failure';
import { formatFields, formatTable, indentText, note, print, printJson } from '../terminal';
import { describeBuiltIn, pullCustomTools } from '../tools/describe-tool';

/**
 * `parley tools show <tool>`: prints what a tool does, its parameters and the
 * permission that it needs.
 */
export async function runToolsShow(name: string, { json }: { json?: boolean }): Promise<void> {
  const builtIn = builtInTools.find((tool) => tool.name === name);
  const tool =
    builtIn === undefined
      ? (await pullCustomTools()).find((custom) => custom.name === name)
      : describeBuiltIn(builtIn);
  if (tool === undefined)
    throw new Failure(`There is no tool "${name}". List the tools with: parley tools list`);
  if (json) return printJson(tool);
  const { kind, permission, description, parameters } = tool;
  print(formatFields({ tool: name, kind, permission }));
  print(`\n${indentText(description)}\n`);
  const rows = rowsOf(parameters);
  if (rows.length === 0) return note(`  No parameters are declared (${describeType(parameters)}).`);
  const required = (value: (typeof rows)[number]['required']) =>
    value === true ? 'yes' : value || 'no';
  print(
    formatTable(
      ['PARAMETER', 'TYPE', 'REQUIRED', 'DESCRIPTION'],
      rows.map((row) => [
        row.name,
        row.type.replaceAll('"', ''),
        required(row.required),
        noteOf(row),
      ]),
    ),
  );
}
