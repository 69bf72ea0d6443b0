import { cancelRuns } from '@parley/triggers';
import { type ChangeOptions, printChanged } from '../triggers/describe-change';
import { withScope } from '../scope';

/** `parley triggers cancel <run...>`: runs that wait or are at work end here. */
export async function runTriggersCancel(wanted: string[], options: ChangeOptions): Promise<void> {
  await withScope(options, async (db, scope) => {
    const none = `No run of that name is waiting or at work in ${scope.name}`;
    printChanged(await cancelRuns(db, scope, wanted), { verb: 'Cancelled', none, json: options.json });
  });
}
