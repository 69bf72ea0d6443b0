import { switchIntegration } from '@parley/db';
import { Failure } from '../failure';
import { type ScopeOptions, withScope } from '../scope';
import { print, printJson } from '../terminal';

/** `parley integrations disable|enable`: a disabled integration keeps its settings and is treated as not configured. */
export async function runIntegrationsSwitch(
  provider: string,
  active: boolean,
  { json, ...options }: ScopeOptions,
): Promise<void> {
  await withScope(options, async (db, scope) => {
    const changed = await switchIntegration(db, scope, provider, active);
    if (changed === null) throw new Failure(`${provider} is not configured in ${scope.name}`);
    if (json) return printJson({ provider, active, changed });
    print(`${provider} is ${changed ? '' : 'already '}${active ? 'enabled' : 'disabled'} in ${scope.name}.`);
  });
}
