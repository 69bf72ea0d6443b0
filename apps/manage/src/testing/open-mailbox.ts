import { type Integration, type SecretBox, saveIntegration } from '@parley/db';
import { startResendServer } from '@parley/testing';
import type { World } from './create-test-api';

export interface Mailbox {
  /** The account of an organization that sends to it. */
  connect(world: World, environment?: Integration['scope']['environment']): Promise<void>;
  account: { RESEND_API_URL: string; RESEND_API_KEY: string; EMAIL_FROM: string };
  /** The subjects and texts of the e-mails to an address, in the order in which they were sent. */
  textsTo(address: string): string[];
  /** The links in the e-mails to an address, in the order in which they were sent. */
  linksTo(address: string): string[];
  stop(): Promise<void>;
}

/** A stand-in of Resend, and what arrives there. */
export async function openMailbox(box: SecretBox): Promise<Mailbox> {
  const resend = await startResendServer();
  const from = 'shop@example.com';
  const textsTo = (address: string) =>
    resend.sent
      .filter(({ body }) => (body.to as string[]).includes(address))
      .map(({ body }) => `${String(body.subject)}\n${String(body.text)}`);
  return {
    account: { RESEND_API_URL: resend.url, RESEND_API_KEY: resend.apiKey, EMAIL_FROM: from },
    connect: ({ db, scope }, environment = scope.environment) =>
      saveIntegration(
        db,
        box,
        { ...scope, environment },
        {
          provider: 'resend',
          config: { apiUrl: resend.url, from },
          secrets: { apiKey: resend.apiKey },
        },
      ),
    textsTo,
    linksTo: (address) => textsTo(address).map((text) => /https:\S+/.exec(text)![0]),
    stop: () => resend.stop(),
  };
}

export const tokenIn = (link: string): string => link.split('/').at(-1)!;
