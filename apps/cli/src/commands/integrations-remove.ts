import { removeIntegration } from '@parley/db';
import { Failure } from '../failure';
import { type ScopeOptions, withScope } from '../scope';
import { print, printJson } from '../terminal';

/** `parley integrations remove`: deletes the settings and secrets, after which pending payments cannot be reconciled. */
export async function runIntegrationsRemove(provider: string, { json, ...options }: ScopeOptions): Promise<void> {
  await withScope(options, async (db, scope) => {
    if (!(await removeIntegration(db, scope, provider)))
      throw new Failure(`${provider} is not configured in ${scope.name}`);
    if (json) return printJson({ provider, removed: true });
    print(`Removed ${provider} from ${scope.name}.`);
  });
}
