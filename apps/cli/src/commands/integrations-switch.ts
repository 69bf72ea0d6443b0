import { switchIntegration } from '@parley/db';
import { Failure } from '../failure';
import { type ScopeOptions, withScope } from '../scope';
import { print, printJson } from '../terminal';

/** `parley integrations disable|enable`: what is off is as if it were not configured, and keeps its settings. */
export async function runIntegrationsSwitch(
  provider: string,
  active: boolean,
  { json, ...options }: ScopeOptions & { json?: boolean },
): Promise<void> {
  await withScope(options, async (db, scope) => {
    const changed = await switchIntegration(db, scope, provider, active);
    if (changed === null) throw new Failure(`${provider} is not configured in ${scope.name}`);
    if (json) return printJson({ provider, active, changed });
    print(`${provider} is ${active ? 'active' : 'off'} in ${scope.name}${changed ? '' : ' already'}.`);
  });
}
