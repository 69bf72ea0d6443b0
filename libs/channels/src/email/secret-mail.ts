import { randomUUID } from 'node:crypto';
import type { Scope } from '@parley/contracts';
import { type AddressGuard, callHttp } from '@parley/outbound';
import type { Accounts, ResendAccount } from '../accounts';
import { subjectOf } from './subject-of';

const timeoutMs = 5_000;

/** Sends e-mails that must not be stored, because they contain a secret. */
export interface SecretMail {
  /**
   * The organization whose admins can read what the account sends; null when it is the
   * account of the server.
   */
  proofTenant: number | null;
  /**
   * Tries once: the caller has another way to pass the secret on. False when the provider has not
   * taken the e-mail.
   */
  send(email: { to: string; subject: string; text: string }): Promise<boolean>;
}

/** An organization, as the owner of an account. */
type Owner = Pick<Scope, 'organizationId' | 'tenant'>;

/**
 * Finds the account for e-mails with secrets. `guard` refuses private addresses that an
 * organization has set.
 */
export function createSecretMails(accounts: Accounts, guard: AddressGuard | undefined) {
  const mailOf = (
    account: ResendAccount | null,
    { organizationId, tenant }: Owner,
  ): SecretMail | null =>
    account === null || account.from === null
      ? null
      : {
          proofTenant: account.isOwn ? tenant : null,
          send: (email) =>
            sendNow({ ...account, from: account.from! }, organizationId, email, guard),
        };

  /** The account of an environment. */
  const mailOfEnvironment = async (scope: Scope) => mailOf(await accounts.resend(scope), scope);

  /** The account of the server; null without RESEND_API_KEY. */
  const mailOfServer = () =>
    mailOf(accounts.serverResend(), { organizationId: 'server', tenant: 0 });

  return {
    mailOfEnvironment,
    mailOfServer,
    /**
     * The account for mail to a person: of the organization, if the person belongs to one
     * only, else of the server. The admins of one organization must not read what opens the
     * others to the person.
     */
    async mailToPerson(organizations: readonly Owner[]): Promise<SecretMail | null> {
      const [only, another] = organizations;
      if (only === undefined || another !== undefined) return mailOfServer();
      return (
        (await mailOfEnvironment({ ...only, environment: 'production' })) ??
        (await mailOfEnvironment({ ...only, environment: 'development' }))
      );
    },
  };
}

async function sendNow(
  { apiUrl, apiKey, from, isOwnAddress }: ResendAccount,
  organizationId: string,
  { to, subject, text }: { to: string; subject: string; text: string },
  guard: AddressGuard | undefined,
): Promise<boolean> {
  const outcome = await callHttp({
    method: 'POST',
    url: `${apiUrl}/emails`,
    headers: { Authorization: `Bearer ${apiKey}`, 'Idempotency-Key': randomUUID() },
    body: { from, to: [to], subject: subjectOf(subject), text },
    timeoutMs,
    organizationId,
    guard: isOwnAddress ? guard : undefined,
  });
  return outcome.kind === 'answered' && outcome.status >= 200 && outcome.status < 300;
}
