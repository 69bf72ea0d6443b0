import { type ThreadSummary, listThreads } from '@parley/agents';
import { type PageOptions, parsePage } from '../page';
import { previewOf } from '../safe-text';
import { type ScopeOptions, withScope } from '../scope';
import { formatTable, formatTime, note, print, printJson } from '../terminal';

export interface ThreadsListOptions extends ScopeOptions, PageOptions {
  agent?: string;
  state?: 'agent' | 'human';
}

/** `parley threads list`: prints the threads of an environment, latest message first. */
export async function runThreadsList({ agent, state, json, ...options }: ThreadsListOptions): Promise<void> {
  const page = parsePage(options, /^[\w-]+$/);
  const { name, items, next } = await withScope(options, async (db, scope) => ({
    name: scope.name,
    ...(await listThreads(db, scope, { ...page, agentSlug: agent, state })),
  }));
  if (json) return printJson({ threads: items, next });
  if (items.length === 0) return note(`No${page.before ? ' more' : ''} threads in ${name}`);
  const header = ['THREAD', 'EXTERNAL ID', 'AGENT', 'CHANNEL', 'STATE', 'TURNS', 'LAST MESSAGE', ''];
  print(formatTable(header, items.map(toRow)));
  if (next !== null) note(`Next page: --before ${next}`);
}

const toRow = (thread: ThreadSummary): string[] => [
  thread.id,
  previewOf(thread.externalId ?? '-', 40),
  thread.agentSlug ?? '-',
  thread.channel,
  thread.state,
  String(thread.turnCount),
  formatTime(thread.lastMessageAt),
  previewOf(thread.lastInput ?? '', 40),
];
