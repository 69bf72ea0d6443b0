import { type Scope, textAt } from '@parley/contracts';
import { type Queryable, type SecretBox, findIntegration } from '@parley/db';
import type { ChannelSettings } from './channel-variables';
import type { KapsoAccount } from './kapso/kapso-client';

export interface ResendAccount {
  apiUrl: string;
  apiKey: string;
  /** Default sender of e-mails. */
  from: string | null;
}

export type Accounts = ReturnType<typeof createAccounts>;

/** Reply to media without text. `mediaReply` of the integration replaces it; an empty text disables the reply. */
const defaultMediaReply =
  'Thank you for your message. I can only read text and voice notes here, could you write it to me?';

/** Finds an organization's accounts at providers. Its integrations have precedence over the process's variables. */
export function createAccounts(db: Queryable, box: SecretBox, settings: ChannelSettings) {
  const own = async (scope: Scope, provider: string) => {
    const found = await findIntegration(db, box, scope, provider);
    return found?.active ? found : null;
  };
  return {
    /** Null when neither the organization nor the process has a key. */
    async kapso(scope: Scope): Promise<(KapsoAccount & { mediaReply: string }) | null> {
      const found = await own(scope, 'kapso');
      const apiKey = textAt(found?.secrets?.apiKey) ?? settings.KAPSO_API_KEY;
      if (apiKey === undefined) return null;
      const { mediaReply } = found?.config ?? {};
      return {
        organizationId: scope.organizationId,
        apiUrl: addressIn(found?.config.apiUrl) ?? settings.KAPSO_API_URL,
        apiKey,
        mediaReply: typeof mediaReply === 'string' ? mediaReply : defaultMediaReply,
      };
    },
    async resend(scope: Scope): Promise<ResendAccount | null> {
      const found = await own(scope, 'resend');
      const apiKey = textAt(found?.secrets?.apiKey) ?? settings.RESEND_API_KEY;
      if (apiKey === undefined) return null;
      return {
        apiUrl: addressIn(found?.config.apiUrl) ?? settings.RESEND_API_URL,
        apiKey,
        from: textAt(found?.config.from) ?? settings.EMAIL_FROM ?? null,
      };
    },
  };
}

const addressIn = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value.replace(/\/+$/, '') : undefined;
