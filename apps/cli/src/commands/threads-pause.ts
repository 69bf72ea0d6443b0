import { setPaused } from '@parley/agents';
import { requireThread } from '../conversations/require';
import { type ScopeOptions, withScope } from '../scope';
import { print, printJson } from '../terminal';

interface PauseOptions extends ScopeOptions {
  json?: boolean;
}

/** `parley threads pause|resume <threadId|externalId>`: a person takes the conversation over, or gives it back. */
export async function runThreadsPause(wanted: string, paused: boolean, options: PauseOptions): Promise<void> {
  await withScope(options, async (db, scope) => {
    const { id } = await requireThread(db, scope, wanted);
    const isChanged = await setPaused(db, scope, id, paused);
    if (options.json) return printJson({ id, agentPaused: paused, changed: isChanged });
    const effect = paused ? 'messages are stored and not answered' : 'messages are answered';
    print(`${paused ? 'Paused' : 'Resumed'} ${id}${isChanged ? '' : ' already'}: ${effect}.`);
  });
}
