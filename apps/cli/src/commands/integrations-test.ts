import { testAccount } from '@parley/channels';
import type { Scope } from '@parley/contracts';
import { type Integration, type Queryable, type SecretBox, findIntegration } from '@parley/db';
import { testFlow, toFlowAccount } from '@parley/payments';
import { createGuardedFetch } from '@parley/outbound';
import { createMcpServers } from '@parley/tools';
import { Failure, usageFailure } from '../failure';
import { type ScopeOptions, withScope } from '../scope';
import { findSecret, openSecretBox } from '../secrets';
import { print, printJson } from '../terminal';
import { integrationSecrets, isMcpServer, providers } from '../webhooks/names';

/** `parley integrations test`: one question that changes nothing; status 1 when the provider refuses the key. */
export async function runIntegrationsTest(
  provider: string,
  { json, ...options }: ScopeOptions & { json?: boolean },
): Promise<void> {
  if (!(provider in integrationSecrets) && !isMcpServer(provider))
    throw usageFailure(`Which provider? ${providers.join(', ')}`);
  const box = openSecretBox();
  const { name, integration, tools } = await withScope(options, async (db, scope) => ({
    name: scope.name,
    integration: await findIntegration(db, box, scope, provider),
    tools: isMcpServer(provider) ? await listMcpTools(db, box, scope, provider) : null,
  }));
  if (integration === null)
    throw new Failure(`${provider} is not configured in ${name}: parley integrations set ${provider}`);
  const result = tools ?? (await test(integration));
  if (!result.ok) throw new Failure(`${provider}: ${result.message}`);
  if (json) return printJson({ provider, ok: true, message: result.message });
  print(`${provider}: ${result.message}`);
}

async function test(integration: Integration): Promise<{ ok: boolean; message: string }> {
  if (integration.secrets === null) return { ok: false, message: 'no key in SECRETS_KEY opens its secrets' };
  if (integration.provider !== 'flow') {
    // As the services do: the address of the integration, else the one that they were given.
    const apiUrl = findSecret(`${integration.provider.toUpperCase()}_API_URL`);
    const config = { ...(apiUrl !== undefined && { apiUrl }), ...integration.config };
    return testAccount(integration.provider, { ...integration, config });
  }
  const account = toFlowAccount(integration);
  return account.ok ? testFlow(account.account) : { ok: false, message: account.message };
}

/** Asks an MCP server for its tools, as an agent's turn would. */
async function listMcpTools(
  db: Queryable,
  box: SecretBox,
  scope: Scope,
  provider: string,
): Promise<{ ok: boolean; message: string }> {
  const allowedPrivateHosts = (process.env.MCP_ALLOWED_PRIVATE_HOSTS ?? '').split(/[\s,]+/).filter(Boolean);
  const guarded = createGuardedFetch({ allowedPrivateHosts });
  const problems: string[] = [];
  const log = { error: ({ reason }: Record<string, unknown>) => void problems.push(String(reason)) };
  const servers = createMcpServers({ db, box, openGuarded: guarded.open, log });
  try {
    const tools = await servers.list(scope, [`${provider}.*`]);
    const [problem] = problems;
    return problem === undefined
      ? { ok: true, message: `serves ${tools.length} tools` }
      : { ok: false, message: problem };
  } finally {
    servers.close();
    await guarded.close();
  }
}
