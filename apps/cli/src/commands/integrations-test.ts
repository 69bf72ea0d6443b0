import { testAccount } from '@parley/channels';
import { type Integration, findIntegration } from '@parley/db';
import { testFlow, toFlowAccount } from '@parley/payments';
import { Failure } from '../failure';
import { type ScopeOptions, withScope } from '../scope';
import { openSecretBox } from '../secrets';
import { print, printJson } from '../terminal';

/** `parley integrations test`: one question that changes nothing; status 1 when the provider refuses the key. */
export async function runIntegrationsTest(
  provider: string,
  { json, ...options }: ScopeOptions & { json?: boolean },
): Promise<void> {
  const box = openSecretBox();
  const { name, integration } = await withScope(options, async (db, scope) => ({
    name: scope.name,
    integration: await findIntegration(db, box, scope, provider),
  }));
  if (integration === null)
    throw new Failure(`${provider} is not configured in ${name}: parley integrations set ${provider}`);
  const result = await test(integration);
  if (!result.ok) throw new Failure(`${provider}: ${result.message}`);
  if (json) return printJson({ provider, ok: true, message: result.message });
  print(`${provider}: ${result.message}`);
}

async function test(integration: Integration): Promise<{ ok: boolean; message: string }> {
  if (integration.secrets === null) return { ok: false, message: 'no key in SECRETS_KEY opens its secrets' };
  if (integration.provider !== 'flow') return testAccount(integration.provider, integration);
  const account = toFlowAccount(integration);
  return account.ok ? testFlow(account.account) : { ok: false, message: account.message };
}
