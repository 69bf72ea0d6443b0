import { cancelRuns } from '@parley/triggers';
import { printChangedRuns } from '../triggers/print-changed-runs';
import { type ScopeOptions, withScope } from '../scope';

/** `parley triggers cancel <run...>`: cancels scheduled or running runs. */
export async function runTriggersCancel(names: string[], options: ScopeOptions): Promise<void> {
  await withScope(options, async (db, scope) => {
    const none = `No scheduled or running run matches in ${scope.name}`;
    printChangedRuns(await cancelRuns(db, scope, names), { verb: 'Cancelled', none, json: options.json });
  });
}
