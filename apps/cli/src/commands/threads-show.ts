import { readTurns } from '@parley/agents';
import { cutsOf } from '../conversations/format-execution';
import { formatThreadHead, formatTurn } from '../conversations/format-transcript';
import { requireThread } from '../conversations/require-thread';
import { usageFailure } from '../failure';
import { type PageOptions, executionIdPattern, parseLimit } from '../page';
import { type ScopeOptions, withScope } from '../scope';
import { colors, print, printJson } from '../terminal';

export interface ThreadsShowOptions extends ScopeOptions, PageOptions {
  full?: boolean;
}

/** `parley threads show <threadId|externalId>`: prints the last turns of a thread, oldest first. */
export async function runThreadsShow(threadId: string, { full, json, ...options }: ThreadsShowOptions): Promise<void> {
  const limit = parseLimit(options.limit, 20);
  const beforeId = options.before ?? null;
  if (beforeId !== null && !executionIdPattern.test(beforeId))
    throw usageFailure(`--before must be the id of an execution, not "${beforeId}"`);
  const { thread, turns, isWhole } = await withScope(options, async (db, scope) => {
    const found = await requireThread(db, scope, threadId);
    return { thread: found, ...(await readTurns(db, scope, { threadId: found.id, limit, beforeId })) };
  });
  const next = isWhole ? null : turns[0]!.id;
  if (json) return printJson({ ...thread, turns, next });
  print(formatThreadHead(thread, cutsOf(full)));
  if (next !== null) print(`\n${colors.dim(`Earlier turns: --before ${next}`)}`);
  for (const turn of turns) print(`\n${formatTurn(turn, cutsOf(full))}`);
}
