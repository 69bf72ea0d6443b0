import { type ExecutionSummary, listExecutions } from '@parley/agents';
import { durationOf } from '../conversations/format-execution';
import type { ExecutionStatus } from '../statuses';
import { requireThread } from '../conversations/require-thread';
import { type PageOptions, executionIdPattern, parsePage } from '../page';
import { previewOf } from '../safe-text';
import { type ScopeOptions, withScope } from '../scope';
import { formatTable, formatTime, note, print, printJson } from '../terminal';

export interface ExecutionsListOptions extends ScopeOptions, PageOptions {
  thread?: string;
  agent?: string;
  status?: ExecutionStatus;
}

/** `parley executions list`: prints the executions of an environment or of one thread, newest first. */
export async function runExecutionsList(options: ExecutionsListOptions): Promise<void> {
  const { thread, agent, status, json } = options;
  const page = parsePage(options, executionIdPattern);
  const { name, items, next } = await withScope(options, async (db, scope) => {
    const threadId = thread === undefined ? undefined : (await requireThread(db, scope, thread)).id;
    return { name: scope.name, ...(await listExecutions(db, scope, { ...page, threadId, agentSlug: agent, status })) };
  });
  if (json) return printJson({ executions: items, next });
  if (items.length === 0) return note(`No${page.before ? ' more' : ''} matching executions in ${name}`);
  const header = ['EXECUTION', 'CREATED', 'THREAD', 'AGENT', 'STATUS', 'MODEL', 'CALLS', 'TOKENS', 'TOOK', ''];
  print(formatTable(header, items.map(toRow)));
  if (next !== null) note(`Next page: --before ${next}`);
}

const toRow = (execution: ExecutionSummary): string[] => [
  execution.id,
  formatTime(execution.createdAt),
  execution.threadId,
  execution.agentSlug ?? '-',
  execution.status,
  execution.model ?? '-',
  String(execution.iterations),
  `${execution.inputTokens} + ${execution.outputTokens}`,
  durationOf(execution) ?? '-',
  previewOf(execution.error ?? execution.input, 60),
];
