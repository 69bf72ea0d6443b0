import { retryRuns } from '@parley/triggers';
import { printChangedRuns } from '../triggers/print-changed-runs';
import { type ScopeOptions, withScope } from '../scope';

/** `parley triggers retry <run...>`: retries dead or cancelled runs. */
export async function runTriggersRetry(names: string[], options: ScopeOptions): Promise<void> {
  await withScope(options, async (db, scope) => {
    const none = `No dead or cancelled run matches in ${scope.name}`;
    printChangedRuns(await retryRuns(db, scope, names), { verb: 'Retrying', none, json: options.json });
  });
}
