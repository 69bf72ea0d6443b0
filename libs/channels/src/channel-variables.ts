import { z } from 'zod';

const address = (fallback: string, description: string) =>
  z
    .url({ protocol: /^https?$/, error: 'must be an http or https address' })
    .transform((url) => url.replace(/\/+$/, ''))
    .default(fallback)
    .meta({ description });

const optional = (description: string) => z.string().optional().meta({ description });

/** Variables of processes that send messages, for loadConfig of libs/service. */
export const channelVariables = {
  KAPSO_API_URL: address('https://api.kapso.ai', 'Address of Kapso, the WhatsApp provider.'),
  KAPSO_API_KEY: optional(
    'Default key for Kapso. The integration of an organization replaces it (parley integrations set kapso).',
  ),
  RESEND_API_URL: address('https://api.resend.com', 'Address of Resend, the e-mail provider.'),
  RESEND_API_KEY: optional(
    'Default key for Resend. The integration of an organization replaces it (parley integrations set resend).',
  ),
  EMAIL_FROM: optional('Default sender of e-mails, such as "Acme <hello@acme.example>".'),
  STAND_INS_URL: z
    .url({ protocol: /^https?$/, error: 'must be an http or https address' })
    .optional()
    .meta({
      description:
        'Address of the stand-ins of Flow, Kapso and Resend, which `npm start` sets. Development environments without an account use them. Refused when NODE_ENV is production.',
    }),
};

export interface ChannelSettings {
  KAPSO_API_URL: string;
  KAPSO_API_KEY?: string;
  RESEND_API_URL: string;
  RESEND_API_KEY?: string;
  EMAIL_FROM?: string;
  STAND_INS_URL?: string;
}
