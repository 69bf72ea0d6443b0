import { createHash } from 'node:crypto';
import { type Scope, check, currencySchema, detailText } from '@parley/contracts';
import {
  type Integration,
  type Queryable,
  type SecretBox,
  findIntegration,
  listActiveIntegrations,
  standInAccount,
} from '@parley/db';
import { z } from 'zod';

/** An environment's access to Flow (docs/reference/payments.md#accounts). */
export interface FlowAccount {
  integrationId: string;
  scope: Scope;
  /** Without a trailing slash. */
  apiUrl: string;
  apiKey: string;
  secretKey: string;
  /** Where the payer returns to. Empty: the public address of the gateway. */
  returnUrl: string;
  defaultCurrency: string;
}

const flowProvider = 'flow';
const fallbackCurrency = 'CLP';

const schema = z.object({
  apiUrl: z.url({ protocol: /^https?$/, error: 'must be an http or https address' }),
  apiKey: z.string().min(1),
  secretKey: z.string().min(1),
  returnUrl: z
    .union([
      z.literal(''),
      z.url({ protocol: /^https?$/, error: 'must be an http or https address' }),
    ])
    .default(''),
  defaultCurrency: z
    .string()
    .default('')
    .transform((code) => code || fallbackCurrency)
    .pipe(currencySchema),
});

export type FlowAccountResult = { ok: true; account: FlowAccount } | { ok: false; message: string };

/**
 * Reads the account of an integration, or reports what is wrong with it. Messages never contain
 * values of secrets.
 */
export function toFlowAccount({ id, scope, config, secrets }: Integration): FlowAccountResult {
  if (secrets === null)
    return { ok: false, message: 'No key in SECRETS_KEY decrypts the secrets of the integration' };
  const checked = check(schema, { ...config, ...secrets });
  if (!checked.ok)
    return {
      ok: false,
      message: `The integration is not complete: ${checked.problems.map(detailText).join('; ')}`,
    };
  const apiUrl = checked.value.apiUrl.replace(/\/+$/, '');
  return { ok: true, account: { ...checked.value, apiUrl, integrationId: id, scope } };
}

/**
 * Finds the account of an environment, or the one at the stand-ins of development when it has none.
 * `activeOnly` for new payments: existing ones continue after it is deactivated.
 */
export async function findFlowAccount(
  { db, box, standInsUrl }: { db: Queryable; box: SecretBox; standInsUrl?: string },
  scope: Scope,
  { activeOnly }: { activeOnly: boolean },
): Promise<FlowAccountResult> {
  const integration = await findIntegration(db, box, scope, flowProvider);
  const standIn = integration === null && standInAccount(standInsUrl, flowProvider, scope);
  if (standIn) {
    const fixed = {
      integrationId: '',
      secretKey: 'offline',
      returnUrl: '',
      defaultCurrency: fallbackCurrency,
    };
    return { ok: true, account: { ...standIn, ...fixed, scope } };
  }
  if (integration === null || (activeOnly && !integration.active)) {
    return { ok: false, message: `Payments are not configured in ${scope.environment}` };
  }
  return toFlowAccount(integration);
}

/**
 * Lists the active accounts of one environment or of all, and the active integrations
 * that are incomplete.
 */
export async function listFlowAccounts(
  db: Queryable,
  box: SecretBox,
  only?: Scope,
): Promise<{
  accounts: FlowAccount[];
  unusable: { integrationId: string; scope: Scope; message: string }[];
}> {
  const accounts: FlowAccount[] = [];
  const unusable: { integrationId: string; scope: Scope; message: string }[] = [];
  const integrations =
    only === undefined
      ? await listActiveIntegrations(db, box, flowProvider)
      : [await findIntegration(db, box, only, flowProvider)].filter(
          (found) => found?.active === true,
        );
  for (const integration of integrations as Integration[]) {
    const result = toFlowAccount(integration);
    if (result.ok) accounts.push(result.account);
    else
      unusable.push({
        integrationId: integration.id,
        scope: integration.scope,
        message: result.message,
      });
  }
  return { accounts, unusable };
}

/**
 * Identifies the credentials of an account: environments that share them share its rate limit. The
 * secret is included, so that an outdated secret does not affect other environments, and hashed,
 * because the result may be logged.
 */
export const credentialsOf = ({ apiUrl, apiKey, secretKey }: FlowAccount): string =>
  JSON.stringify([apiUrl, apiKey, createHash('sha256').update(secretKey).digest('base64')]);
