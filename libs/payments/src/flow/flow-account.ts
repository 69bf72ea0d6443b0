import { createHash } from 'node:crypto';
import type { Scope } from '@parley/contracts';
import { type Integration, type Queryable, type SecretBox, findIntegration, listActiveIntegrations } from '@parley/db';
import { z } from 'zod';

/** Access to Flow as one environment has configured it (interface.md, Payment provider integration). */
export interface FlowAccount {
  integrationId: string;
  scope: Scope;
  /** Without a slash at its end. */
  apiUrl: string;
  apiKey: string;
  secretKey: string;
  /** Empty: the root of the service. */
  returnUrl: string;
  defaultCurrency: string;
}

const flowProvider = 'flow';
const fallbackCurrency = 'CLP';

/** ISO 4217, in any case. */
export const currencySchema = z
  .string()
  .trim()
  .regex(/^[A-Za-z]{3}$/, { error: ({ input }) => `must be a code of three letters such as CLP, not ${String(input)}` })
  .toUpperCase();

const schema = z.object({
  apiUrl: z.url({ protocol: /^https?$/, error: 'must be an http or https address' }),
  apiKey: z.string().min(1),
  secretKey: z.string().min(1),
  returnUrl: z
    .union([z.literal(''), z.url({ protocol: /^https?$/, error: 'must be an http or https address' })])
    .default(''),
  defaultCurrency: z
    .string()
    .default('')
    .transform((code) => code || fallbackCurrency)
    .pipe(currencySchema),
});

export type FlowAccountResult = { ok: true; account: FlowAccount } | { ok: false; message: string };

/** The account of an integration, or what of its configuration is wrong; values of secrets are never named. */
export function toFlowAccount({ id, scope, config, secrets }: Integration): FlowAccountResult {
  if (secrets === null) return { ok: false, message: 'No key in SECRETS_KEY opens the secrets of the integration' };
  const parsed = schema.safeParse({ ...config, ...secrets });
  if (!parsed.success) {
    const problems = parsed.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`);
    return { ok: false, message: `The integration is not complete: ${problems.join('; ')}` };
  }
  const apiUrl = parsed.data.apiUrl.replace(/\/+$/, '');
  return { ok: true, account: { ...parsed.data, apiUrl, integrationId: id, scope } };
}

/** The account of an environment. `activeOnly` for new payments; old ones are followed up also when it was switched off. */
export async function findFlowAccount(
  db: Queryable,
  box: SecretBox,
  scope: Scope,
  { activeOnly }: { activeOnly: boolean },
): Promise<FlowAccountResult> {
  const integration = await findIntegration(db, box, scope, flowProvider);
  if (integration === null || (activeOnly && !integration.active)) {
    return { ok: false, message: `Payments are not configured in ${scope.environment}` };
  }
  return toFlowAccount(integration);
}

/** Every account in use, and the integrations that cannot be used. */
export async function listFlowAccounts(
  db: Queryable,
  box: SecretBox,
): Promise<{ accounts: FlowAccount[]; unusable: { integrationId: string; scope: Scope; message: string }[] }> {
  const accounts: FlowAccount[] = [];
  const unusable: { integrationId: string; scope: Scope; message: string }[] = [];
  for (const integration of await listActiveIntegrations(db, box, flowProvider)) {
    const result = toFlowAccount(integration);
    if (result.ok) accounts.push(result.account);
    else unusable.push({ integrationId: integration.id, scope: integration.scope, message: result.message });
  }
  return { accounts, unusable };
}

/**
 * Environments that share credentials share a provider account, and its limits. The secret counts: one that is out of
 * date must not speak for another. Only its digest, as this may come to be logged.
 */
export const credentialsOf = ({ apiUrl, apiKey, secretKey }: FlowAccount): string =>
  JSON.stringify([apiUrl, apiKey, createHash('sha256').update(secretKey).digest('base64')]);
