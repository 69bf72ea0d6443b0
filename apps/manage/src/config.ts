import { z } from 'zod';
import { channelVariables } from '@parley/channels';
import { secretsKeyVariable } from '@parley/db';
import { redisVariables } from '@parley/redis';
import {
  databaseVariables,
  largeBodyVariables,
  keyLimitVariables,
  listVariable,
  numberVariable,
  replicaVariables,
  serviceVariables,
  urlVariable,
} from '@parley/service';

export const manageVariables = {
  ...serviceVariables(4007),
  ...databaseVariables(15_000),
  ...largeBodyVariables(48),
  ...replicaVariables,
  ...redisVariables,
  ...keyLimitVariables,
  ...channelVariables,
  SECRETS_KEY: secretsKeyVariable,
  PUBLIC_URL: urlVariable().default('http://localhost:4000').meta({
    description: 'Public address of the gateway, to which providers send webhooks and callbacks.',
  }),
  MESSAGING_WEBHOOK_SECRET: listVariable().meta({
    description:
      'Secret of the WhatsApp provider (Kapso). The secret that is registered for each connection is derived from it; from the first one if there are several.',
  }),
  MCP_ALLOWED_PRIVATE_HOSTS: listVariable().meta({
    description: 'Private hosts, as host or host:port, on which MCP servers may run.',
  }),
  PROVIDER_ALLOWED_PRIVATE_HOSTS: listVariable().meta({
    description:
      'Private hosts, as host or host:port, that the management API may call when an integration names them, such as a server of models that is tested.',
  }),
  SIGN_IN_ATTEMPTS_PER_PERSON: numberVariable(5, 1).meta({
    description:
      'Attempts to sign in for an e-mail address from one network address in any 5 minutes. From all addresses together, 4 times as many.',
  }),
  SIGN_IN_ATTEMPTS_PER_ADDRESS: numberVariable(30, 1).meta({
    description: 'Attempts to sign in from one network address in any 5 minutes.',
  }),
  OIDC_ISSUER: urlVariable().optional().meta({
    description:
      'Address of the OpenID provider at which people can sign in, https except on this machine. Its redirect address is PUBLIC_URL/v1/sign-in/oidc/callback.',
  }),
  OIDC_CLIENT_ID: z
    .string()
    .optional()
    .meta({ description: 'Id of Parley at the OpenID provider. Required with OIDC_ISSUER.' }),
  OIDC_CLIENT_SECRET: z.string().optional().meta({
    description:
      'Secret of Parley at the OpenID provider. Not needed for a public client, which uses PKCE alone.',
  }),
  OIDC_NAME: z
    .string()
    .max(60)
    .default('OpenID')
    .meta({ description: "The provider's name on the button to sign in." }),
  OIDC_SENDS_IDENTITY_WEBHOOK: z.enum(['true', 'false']).default('false').meta({
    description:
      'Set to true when the OpenID provider also sends the identity webhook, with its subjects as ids of people: those people then sign in without an invitation.',
  }),
  EVENT_STREAMS_PER_CALLER: numberVariable(20, 1).meta({
    description: 'Open streams of events of one key or person in a process.',
  }),
  EVENT_STREAMS_PER_ORGANIZATION: numberVariable(200, 1).meta({
    description: 'Open streams of events of an organization in a process.',
  }),
  EXECUTION_STREAMS_PER_CALLER: numberVariable(500, 1).meta({
    description:
      'Open streams of executions, waits for their end and completions of one key or person in a process.',
  }),
  EXECUTION_STREAMS_PER_ORGANIZATION: numberVariable(1_000, 1).meta({
    description:
      'Open streams of executions, waits for their end and completions of an organization in a process.',
  }),
  MANAGE_RATE_LIMIT_PER_KEY: numberVariable(1_200, 1).meta({
    description: 'Management requests of one key or person in any minute.',
  }),
  MANAGE_RATE_LIMIT_PER_ORGANIZATION: numberVariable(6_000, 1).meta({
    description: 'Management requests of an organization in any minute.',
  }),
};
