import { setTakenOver } from '@parley/agents';
import { requireThread } from '../conversations/require-thread';
import { type ScopeOptions, withScope } from '../scope';
import { print, printJson } from '../terminal';

/** `parley threads takeover|resume <threadId|externalId>`: starts or ends a takeover. */
export async function runThreadsTakeover(name: string, takenOver: boolean, options: ScopeOptions): Promise<void> {
  await withScope(options, async (db, scope) => {
    const { id } = await requireThread(db, scope, name);
    const isChanged = await setTakenOver(db, scope, id, takenOver);
    if (options.json) return printJson({ id, state: takenOver ? 'human' : 'agent', changed: isChanged });
    if (takenOver) {
      print(`${isChanged ? `Took over ${id}` : `${id} was already taken over`}: messages are stored and not answered.`);
    } else print(`${isChanged ? `Resumed ${id}` : `${id} was not taken over`}: the agent answers messages.`);
  });
}
