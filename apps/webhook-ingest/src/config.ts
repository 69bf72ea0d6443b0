import { databaseVariables, listVariable, redisVariables, serviceVariables } from '@parley/service';

/** One secret, or several while one is being replaced. */
const secretsVariable = (description: string) =>
  listVariable().meta({ description: `${description} Several, separated by commas, are all accepted.` });

export const ingestVariables = {
  ...serviceVariables(4003),
  ...databaseVariables,
  ...redisVariables,
  IDENTITY_WEBHOOK_SECRET: secretsVariable(
    'Secret of the identity provider (Clerk); without it, its deliveries are accepted unsigned.',
  ),
  MESSAGING_WEBHOOK_SECRET: secretsVariable(
    'Secret of the WhatsApp intermediary (Kapso); the secret of each connection is derived from it.',
  ),
  BILLING_WEBHOOK_SECRET: secretsVariable('Secret of the billing platform (Polar).'),
  EMAIL_WEBHOOK_SECRET: secretsVariable('Secret of the e-mail provider (Resend).'),
};
