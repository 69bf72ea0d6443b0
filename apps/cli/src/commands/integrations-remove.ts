import { removeIntegration } from '@parley/db';
import { Failure } from '../failure';
import { type ScopeOptions, withScope } from '../scope';
import { print, printJson } from '../terminal';

/** `parley integrations remove`: its secrets are deleted. What it had begun cannot be followed up any more. */
export async function runIntegrationsRemove(
  provider: string,
  { json, ...options }: ScopeOptions & { json?: boolean },
): Promise<void> {
  await withScope(options, async (db, scope) => {
    if (!(await removeIntegration(db, scope, provider)))
      throw new Failure(`${provider} is not configured in ${scope.name}`);
    if (json) return printJson({ provider, removed: true });
    print(`${provider} is removed from ${scope.name}.`);
  });
}
