import { switchIntegration } from '@parley/db';
import { Failure } from '../failure';
import { type ScopeOptions, withScope } from '../scope';
import { print, printJson } from '../terminal';

/** `parley integrations disable|enable`: what is off is as if it were not configured, and keeps its settings. */
export async function runIntegrationsDisable(
  provider: string,
  off: boolean,
  { json, ...options }: ScopeOptions & { json?: boolean },
): Promise<void> {
  await withScope(options, async (db, scope) => {
    const changed = await switchIntegration(db, scope, provider, !off);
    if (changed === null) throw new Failure(`${provider} is not configured in ${scope.name}`);
    if (json) return printJson({ provider, active: !off, changed });
    print(`${provider} is ${off ? 'off' : 'active'} in ${scope.name}${changed ? '' : ' already'}.`);
  });
}
