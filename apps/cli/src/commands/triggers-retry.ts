import { retryRuns } from '@parley/triggers';
import { type ChangeOptions, printChanged } from '../triggers/describe-change';
import { withScope } from '../scope';

/** `parley triggers retry <run...>`: dead or cancelled runs are tried again. */
export async function runTriggersRetry(wanted: string[], options: ChangeOptions): Promise<void> {
  await withScope(options, async (db, scope) => {
    const none = `No dead or cancelled run of that name in ${scope.name}`;
    printChanged(await retryRuns(db, scope, wanted), { verb: 'Retrying', none, json: options.json });
  });
}
