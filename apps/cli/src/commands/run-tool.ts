import type { RunToolResponse } from '@parley/contracts';
import { createApi } from '../api';
import { parseObject } from '../data/input';
import { safeText } from '../safe-text';
import { colors, note, print, printJson } from '../terminal';

/** `parley run-tool <tool> [args]`: runs a tool with the permissions of an agent or the system, and prints its result. */
export async function runRunTool(
  toolName: string,
  text: string | undefined,
  { agent, json }: { agent?: string; json?: boolean },
): Promise<void> {
  const args = text === undefined ? undefined : parseObject(text, 'args');
  const answer = await createApi().post<RunToolResponse>('/v1/run-tool', { toolName, args, agentSlug: agent });
  if (json) return printJson(answer);
  print(safeText(JSON.stringify(answer.result ?? null, null, 2)));
  note(colors.dim(`  ${answer.tool.name} as ${answer.agent?.slug ?? 'the system'}, ${answer.durationMs} ms`));
}
