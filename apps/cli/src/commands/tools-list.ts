import { builtInTools } from '@parley/tools';
import { describeFailure } from '../failure';
import { previewOf } from '../safe-text';
import { formatTable, note, print, printJson } from '../terminal';
import { type DescribedTool, describeBuiltIn, pullCustomTools } from '../tools/describe-tool';

/**
 * `parley tools list`: prints the built-in tools, and the custom tools of the key's environment.
 */
export async function runToolsList({ json }: { json?: boolean }): Promise<void> {
  const builtIn = builtInTools.map(describeBuiltIn);
  const custom = await pullCustomTools().catch((error: unknown) => describeFailure(error).text);
  const tools: DescribedTool[] = [...builtIn, ...(typeof custom === 'string' ? [] : custom)];
  if (json) return printJson({ tools, ...(typeof custom === 'string' && { customTools: custom }) });
  const rows = tools.map(({ name, kind, permission, description }) => [
    name,
    kind,
    permission,
    previewOf(description, 60),
  ]);
  print(formatTable(['TOOL', 'KIND', 'PERMISSION', 'DESCRIPTION'], rows));
  if (typeof custom === 'string')
    note(`The custom tools of an environment are not listed: ${custom}`);
}
