import { checkCredentials } from '@parley/channels';
import { integrationProvider } from '@parley/contracts';
import type { Db, Integration, SecretBox } from '@parley/db';
import { type GuardedFetch, rejectOnAbort } from '@parley/outbound';
import { checkFlowCredentials, toFlowAccount } from '@parley/payments';
import { createMcpServers } from '@parley/tools';

export interface IntegrationTestDeps {
  db: Db;
  box: SecretBox;
  /** Connections to addresses in settings: of MCP servers, and of other providers. */
  guards: { mcp: GuardedFetch; providers: GuardedFetch };
  /** Addresses that the operator sets, which integrations without an address use. */
  addresses: { kapso: string; resend: string };
  /** Time limit of a test. Below the deadline of the gateway. */
  testLimitMs?: number;
}

interface Result {
  ok: boolean;
  reason: string;
}

/** An answer of a provider may be a reason, which is part of a response and of the audit log. */
const maxReasonChars = 300;

/**
 * Asks the provider of an integration for something that requires its settings and changes nothing.
 */
export async function testIntegration(
  { testLimitMs = 15_000, ...deps }: IntegrationTestDeps,
  integration: Integration,
  signal: AbortSignal,
): Promise<Result> {
  const limit = AbortSignal.timeout(testLimitMs);
  const either = AbortSignal.any([limit, signal]);
  try {
    const { ok, reason } = await rejectOnAbort(ask(deps, integration, either), either);
    return {
      ok,
      reason: reason
        .replace(/\p{Cc}+/gu, ' ')
        .slice(0, maxReasonChars)
        .toWellFormed(),
    };
  } catch (error) {
    if (limit.aborted)
      return { ok: false, reason: `gave no complete answer within ${testLimitMs} ms` };
    throw error;
  }
}

async function ask(
  { db, box, guards, addresses }: Omit<IntegrationTestDeps, 'testLimitMs'>,
  integration: Integration,
  signal: AbortSignal,
): Promise<Result> {
  const { provider, scope, config, secrets, active } = integration;
  if (secrets === null)
    return { ok: false, reason: 'has secrets that no key in SECRETS_KEY decrypts. Set them again' };
  if (integrationProvider(provider)?.kind === 'mcp') {
    if (!active) return { ok: false, reason: 'is switched off' };
    const problems: string[] = [];
    const log = {
      error: ({ reason }: Record<string, unknown>) => void problems.push(String(reason)),
    };
    const servers = createMcpServers({ db, box, openGuarded: guards.mcp.open, log });
    try {
      const tools = await servers.list(scope, [`${provider}.*`]);
      return problems[0] === undefined
        ? { ok: true, reason: `serves ${tools.length} tools` }
        : { ok: false, reason: problems[0] };
    } finally {
      servers.close();
    }
  }
  if (provider === 'flow') {
    const account = toFlowAccount(integration);
    if (!account.ok) return { ok: false, reason: account.message };
    const { ok, message } = await checkFlowCredentials(account.account, {
      guard: guards.providers,
      signal,
    });
    return { ok, reason: message };
  }
  const hasAddress = (config.apiUrl ?? config.baseUrl) !== undefined;
  const settings = hasAddress
    ? config
    : { ...config, apiUrl: addresses[provider as 'kapso' | 'resend'] };
  const options = hasAddress ? { guard: guards.providers, signal } : { signal };
  const { ok, message } = await checkCredentials(provider, { config: settings, secrets }, options);
  return { ok, reason: message };
}
