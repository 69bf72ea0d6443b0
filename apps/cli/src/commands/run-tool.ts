import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { LogLine, RunToolResponse, SyncPull, ToolDefinition } from '@parley/contracts';
import { type Api, ApiFailure, createApi } from '../api';
import { pathOf } from '../command-io';
import { parseObject } from '../data/input';
import { type PlaceOfLine, nameLine } from '../push/build-handler';
import { hasDefinitions, loadFolder } from '../push/load-folder';
import { safeLine, safeText } from '../safe-text';
import { colors, note, print, printJson } from '../terminal';

/**
 * `parley run-tool <tool> [args]`: runs a tool with the permissions of an agent or the system, and
 * prints its result.
 */
export async function runRunTool(
  toolName: string,
  text: string | undefined,
  { agent, json }: { agent?: string; json?: boolean },
): Promise<void> {
  const args = text === undefined ? undefined : await parseObject(text, 'args');
  const api = createApi();
  try {
    const answer = await api.post<RunToolResponse>('/v1/run-tool', {
      toolName,
      args,
      agentSlug: agent,
    });
    if (json) return printJson(answer);
    printLogs(answer.logs);
    print(safeText(JSON.stringify(answer.result ?? null, null, 2)));
    note(
      colors.dim(
        `  ${answer.tool.name} as ${answer.agent?.slug ?? 'the system'}, ${answer.durationMs} ms`,
      ),
    );
  } catch (error) {
    if (!(error instanceof ApiFailure)) throw error;
    printLogs(error.logs);
    throw await withPlace(error, api, toolName);
  }
}

function printLogs(logs: LogLine[] = []): void {
  for (const { level, message } of logs)
    note(colors.dim(`  console.${level}: ${safeLine(message)}`));
}

/**
 * Replaces the line of an error by the place in the project, if the project has the
 * handler that ran.
 */
async function withPlace(error: ApiFailure, api: Api, tool: string): Promise<ApiFailure> {
  const { status, code, requestId, details, text, logs } = error;
  if (!/\(line \d+/.test(text)) return error;
  const placeOf = await findHandler(api, tool).catch(() => null);
  if (placeOf === null) return error;
  return new ApiFailure(status, code, requestId, details, nameLine(text, placeOf), logs);
}

/** Looks for the stored handler of a tool in this folder and its subfolders. */
async function findHandler(api: Api, name: string): Promise<PlaceOfLine | null> {
  const { resources } = await api.post<SyncPull>('/v1/sync/pull', {});
  const codeIn = (tools: ToolDefinition[] = []) =>
    tools.find((tool) => tool.name === name)?.handlerCode;
  const subfolders = readdirSync(pathOf('.'), { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && !/^\.|^node_modules$/.test(entry.name))
    .map((entry) => join('.', entry.name));
  for (const folder of ['.', ...subfolders].filter(hasDefinitions)) {
    const { resources: local, handlers } = await loadFolder(folder);
    if (codeIn(local.tools) === codeIn(resources.tools)) return handlers.get(name) ?? null;
  }
  return null;
}
