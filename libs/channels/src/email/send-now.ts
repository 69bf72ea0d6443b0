import type { Scope } from '@parley/contracts';
import { callHttp } from '@parley/outbound';
import type { Accounts } from '../accounts';

const timeoutMs = 5_000;

/**
 * Sends an e-mail that must not be stored, because it contains a secret. It is tried once: the caller has another way to pass the
 * secret on. False when the provider has not taken it.
 */
export async function sendEmailNow(
  accounts: Accounts,
  scope: Scope,
  { to, subject, text }: { to: string; subject: string; text: string },
): Promise<boolean> {
  const account = await accounts.resend(scope);
  if (account === null || account.from === null) return false;
  const outcome = await callHttp({
    method: 'POST',
    url: `${account.apiUrl}/emails`,
    headers: { Authorization: `Bearer ${account.apiKey}` },
    body: { from: account.from, to: [to], subject, text },
    timeoutMs,
    organizationId: scope.organizationId,
    slotWaitMs: 0,
  });
  return outcome.kind === 'answered' && outcome.status >= 200 && outcome.status < 300;
}
