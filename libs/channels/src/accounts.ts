import { type Scope, textAt } from '@parley/contracts';
import { type Queryable, type SecretBox, findIntegration, standInAccount } from '@parley/db';
import type { ChannelSettings } from './channel-variables';
import type { KapsoAccount } from './kapso/kapso-client';

export interface ResendAccount {
  apiUrl: string;
  apiKey: string;
  /** Default sender of e-mails. */
  from: string | null;
  /** The organization's, whose admins can read what it sends. */
  isOwn: boolean;
  /** The organization has set its address. */
  isOwnAddress: boolean;
}

export type Accounts = ReturnType<typeof createAccounts>;

/**
 * Reply to media without text. `mediaReply` of the integration replaces it; an empty text
 * disables the reply.
 */
const defaultMediaReply =
  'Thank you for your message. I can only read text and voice notes here, could you write it to me?';

/**
 * Finds an organization's accounts at providers. Its integrations have precedence over the
 * process's variables.
 */
export function createAccounts(db: Queryable, box: SecretBox, settings: ChannelSettings) {
  /**
   * The active integration, and the account at the stand-ins, which replaces no integration, even
   * if disabled or unreadable.
   */
  const find = async (scope: Scope, provider: 'kapso' | 'resend') => {
    const integration = await findIntegration(db, box, scope, provider);
    const standIn =
      integration === null ? standInAccount(settings.STAND_INS_URL, provider, scope) : null;
    return { found: integration?.active ? integration : null, standIn };
  };
  return {
    /** Null when neither the organization nor the process has a key. */
    async kapso(
      scope: Scope,
    ): Promise<(KapsoAccount & { mediaReply: string; isShared: boolean }) | null> {
      const { found, standIn } = await find(scope, 'kapso');
      const own = textAt(found?.secrets?.apiKey);
      const apiKey = own ?? settings.KAPSO_API_KEY;
      // The process's key is sent to the process's address only.
      const address = own === undefined ? undefined : addressIn(found?.config.apiUrl);
      const access =
        apiKey === undefined ? standIn : { apiUrl: address ?? settings.KAPSO_API_URL, apiKey };
      if (access === null) return null;
      const { mediaReply } = found?.config ?? {};
      return {
        organizationId: scope.organizationId,
        ...access,
        isOwnAddress: address !== undefined,
        isShared: own === undefined && apiKey !== undefined,
        mediaReply: typeof mediaReply === 'string' ? mediaReply : defaultMediaReply,
      };
    },
    async resend(scope: Scope): Promise<ResendAccount | null> {
      const { found, standIn } = await find(scope, 'resend');
      const own = textAt(found?.secrets?.apiKey);
      const apiKey = own ?? settings.RESEND_API_KEY;
      const address = own === undefined ? undefined : addressIn(found?.config.apiUrl);
      const from = textAt(found?.config.from) ?? settings.EMAIL_FROM;
      const whose = { isOwn: own !== undefined, isOwnAddress: address !== undefined };
      if (apiKey !== undefined)
        return { apiUrl: address ?? settings.RESEND_API_URL, apiKey, from: from ?? null, ...whose };
      return standIn && { ...standIn, from: from ?? standInSender, ...whose };
    },
    /**
     * The account of the process's variables, at the stand-ins when they are used.
     * Null without a key.
     */
    serverResend(): ResendAccount | null {
      const { RESEND_API_KEY: apiKey, RESEND_API_URL: apiUrl, EMAIL_FROM: from } = settings;
      const whose = { isOwn: false, isOwnAddress: false };
      if (apiKey !== undefined) return { apiUrl, apiKey, from: from ?? null, ...whose };
      const standIn = standInAccount(settings.STAND_INS_URL, 'resend', serverScope);
      return standIn && { ...standIn, from: from ?? standInSender, ...whose };
    },
  };
}

/** The stand-ins list e-mails by organization. */
const serverScope = { organizationId: 'server', environment: 'development' } as const;
const standInSender = 'Parley <parley@localhost>';

const addressIn = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value.replace(/\/+$/, '') : undefined;
