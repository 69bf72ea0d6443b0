import { lockThread, resumeThread, takeThreadOver } from '@parley/agents';
import { requireThread } from '../conversations/require-thread';
import { type ScopeOptions, withScope } from '../scope';
import { print, printJson } from '../terminal';

/** `parley threads takeover|resume <threadId|externalId>`: starts or ends a takeover. */
export async function runThreadsTakeover(name: string, takenOver: boolean, options: ScopeOptions): Promise<void> {
  await withScope(options, async (db, scope) => {
    const { id } = await requireThread(db, scope, name);
    const state = takenOver ? 'human' : 'agent';
    const isChanged = await db.transaction(async (tx) => {
      const thread = (await lockThread(tx, scope, id))!;
      const by = { type: 'api_key', id: 'command', name: 'parley' } as const;
      if (takenOver) await takeThreadOver(tx, scope, thread, { by, resumesAt: null });
      else await resumeThread(tx, scope, thread);
      return thread.state !== state;
    });
    if (options.json) return printJson({ id, state, changed: isChanged });
    if (takenOver) {
      print(`${isChanged ? `Took over ${id}` : `${id} was already taken over`}: messages are stored and not answered.`);
    } else print(`${isChanged ? `Resumed ${id}` : `${id} was not taken over`}: the agent answers messages.`);
  });
}
