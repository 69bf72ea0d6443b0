import { type ResultOf, iterate } from '@parley/client/manage';
import { cutsOf } from '../conversations/format-execution';
import {
  type ThreadMessage,
  formatThreadHead,
  formatTurn,
} from '../conversations/format-transcript';
import { type ListOptions, readPages, withManage } from '../manage';
import { parseLimit } from '../page';
import { colors, print, printJson } from '../terminal';

/** Executions that are read at the same time. */
const concurrentReads = 8;

/** `parley threads show <threadId|externalId>`: prints the last turns of a thread, oldest first. */
export async function runThreadsShow(
  name: string,
  options: ListOptions & { full?: boolean },
): Promise<void> {
  const limit = parseLimit(options.limit, 20);
  const { thread, executions, page } = await withManage(options, async (manage) => {
    const thread = await manage.getThread({ id: name });
    const read = manage.listExecutions;
    const page = await readPages(
      (one) => read({ ...one, thread: thread.id }),
      limit,
      options.cursor,
    );
    const ids = page.data.map(({ id }) => id).reverse();
    const executions: ResultOf<'getExecution'>[] = [];
    while (ids.length > 0)
      executions.push(
        ...(await Promise.all(
          ids.splice(0, concurrentReads).map((id) => manage.getExecution({ id })),
        )),
      );
    const messages: ThreadMessage[] = [];
    const [oldest] = executions;
    for await (const message of iterate(manage.listThreadMessages, { id: thread.id, limit: 100 })) {
      if (oldest === undefined || BigInt(message.executionId) < BigInt(oldest.id)) break;
      messages.unshift(message);
    }
    const turns = executions.map((turn) => ({
      ...turn,
      messages: messages.filter(({ executionId }) => executionId === turn.id),
    }));
    return { thread, executions: turns, page };
  });
  const { cursor, hasMore } = page;
  if (options.json) return printJson({ ...thread, executions, cursor, hasMore });
  const cuts = cutsOf(options.full);
  print(formatThreadHead(thread, cuts));
  if (hasMore) print(`\n${colors.dim(`Earlier turns: --cursor ${cursor}`)}`);
  for (const execution of executions) print(`\n${formatTurn(execution, cuts)}`);
}
