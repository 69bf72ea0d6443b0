import { redisVariables } from '@parley/redis';
import {
  databaseVariables,
  largeBodyVariables,
  listVariable,
  serviceVariables,
} from '@parley/service';
import { z } from 'zod';

/** One secret, or several while one is being rotated. */
const secretsVariable = (description: string) =>
  listVariable().meta({
    description: `${description} Several, separated by commas, are all accepted.`,
  });

export const ingestVariables = {
  ...serviceVariables(4003),
  ...databaseVariables(5_000),
  ...largeBodyVariables(48),
  ...redisVariables,
  IDENTITY_WEBHOOK_SECRET: secretsVariable(
    'Secret of the identity provider (Clerk). Without it, its deliveries are refused in production and accepted unsigned in development.',
  ),
  IDENTITY_WEBHOOK_UNSIGNED: z
    .enum(['true', 'false'])
    .default('false')
    .transform((text) => text === 'true')
    .meta({
      description:
        'Accepts unsigned deliveries of the identity provider in production too: any client that reaches /webhook/clerk can write users, organizations and memberships. No effect when IDENTITY_WEBHOOK_SECRET is set.',
    }),
  MESSAGING_WEBHOOK_SECRET: secretsVariable(
    'Secret of the WhatsApp provider (Kapso). The secret of each connection is derived from it.',
  ),
  BILLING_WEBHOOK_SECRET: secretsVariable('Secret of the billing platform (Polar).'),
  EMAIL_WEBHOOK_SECRET: secretsVariable('Secret of the e-mail provider (Resend).'),
};
