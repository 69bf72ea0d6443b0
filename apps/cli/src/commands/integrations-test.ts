import { checkCredentials } from '@parley/channels';
import { type Scope, integrationProvider, integrationProviders } from '@parley/contracts';
import { type Integration, type Queryable, type SecretBox, findIntegration } from '@parley/db';
import { checkFlowCredentials, toFlowAccount } from '@parley/payments';
import { createGuardedFetch } from '@parley/outbound';
import { createMcpServers } from '@parley/tools';
import { Failure, usageFailure } from '../failure';
import { type ScopeOptions, withScope } from '../scope';
import { findSecret, openSecretBox } from '../secrets';
import { print, printJson } from '../terminal';
import { unknownProvider } from '../webhooks/providers';

/** `parley integrations test`: sends a read-only request. Exits with status 1 when the provider rejects the credentials. */
export async function runIntegrationsTest(provider: string, { json, ...options }: ScopeOptions): Promise<void> {
  const kind = integrationProvider(provider)?.kind;
  const isKnown = kind === 'mcp' || integrationProviders.includes(provider);
  if (kind === undefined) throw usageFailure(unknownProvider(provider));
  const box = openSecretBox();
  const { name, integration, tools } = await withScope(options, async (db, scope) => ({
    name: scope.name,
    integration: await findIntegration(db, box, scope, provider),
    tools: kind === 'mcp' ? await listMcpTools(db, box, scope, provider) : null,
  }));
  if (integration === null && !isKnown) throw usageFailure(unknownProvider(provider));
  if (integration === null)
    throw new Failure(
      `${provider} is not configured in ${name}. Configure it with: parley integrations set ${provider}`,
    );
  const result = tools ?? (await test(integration));
  if (!result.ok) throw new Failure(`${provider}: ${result.message}`);
  if (json) return printJson({ provider, ok: true, message: result.message });
  print(`${provider}: ${result.message}`);
}

async function test(integration: Integration): Promise<{ ok: boolean; message: string }> {
  if (integration.secrets === null)
    return { ok: false, message: 'its secrets cannot be decrypted with SECRETS_KEY. Configure it again' };
  if (integration.provider !== 'flow') {
    // The services use the same address: the one of the integration, else the variable.
    const apiUrl = findSecret(`${integration.provider.toUpperCase()}_API_URL`);
    const config = { ...(apiUrl !== undefined && { apiUrl }), ...integration.config };
    return checkCredentials(integration.provider, { ...integration, config });
  }
  const account = toFlowAccount(integration);
  return account.ok ? checkFlowCredentials(account.account) : { ok: false, message: account.message };
}

/** Lists the tools of an MCP server with the code that lists them for agents. */
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
