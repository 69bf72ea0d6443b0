import { z } from 'zod';
import {
  createIntegrationBodySchema,
  integrationListSchema,
  integrationParamsSchema,
  integrationSchema,
  integrationTestSchema,
  updateIntegrationBodySchema,
} from '../../http/manage/integrations';
import { type ErrorExample, defineOperations, get, patch, post, remove } from '../operation';

const admin = { people: 'admin', rateLimited: true } as const;
const table = {
  listIntegrations: get('/v1/integrations', 'manage', admin),
  getIntegration: get('/v1/integrations/:provider', 'manage', admin),
  createIntegration: post('/v1/integrations', 'manage', admin),
  updateIntegration: patch('/v1/integrations/:provider', 'manage', admin),
  testIntegration: post('/v1/integrations/:provider/test', 'manage', admin),
  removeIntegration: remove('/v1/integrations/:provider', 'manage', admin),
};

const integration = {
  provider: 'ollama',
  kind: 'models',
  isConfigured: true,
  enabled: true,
  isReadable: true,
  fields: [
    {
      name: 'baseUrl',
      isRequired: true,
      isSecret: false,
      description: 'Address of the API of models.',
      value: 'https://models.example.com',
    },
    {
      name: 'apiKey',
      isRequired: false,
      isSecret: true,
      description: 'API key of the account at the provider.',
      value: '••••f3a1',
    },
  ],
  updatedAt: 1763683200000,
} as const;
const notConfigured: ErrorExample = [
  'integration_not_found',
  'ollama is not configured in development',
];
const invalid: ErrorExample = ['invalid_settings', 'settings.apiKey: is required'];

export const integrationOperations = defineOperations('Settings', table, {
  listIntegrations: {
    summary: 'List integrations',
    description: 'Lists the accounts at providers. Secrets are masked.',
    response: integrationListSchema,
    example: { response: { data: [integration] } },
  },
  getIntegration: {
    summary: 'Retrieve an integration',
    params: integrationParamsSchema,
    response: integrationSchema,
    errors: { 404: [notConfigured] },
    example: { response: integration },
  },
  createIntegration: {
    summary: 'Create an integration',
    description:
      'Configures a provider. The settings are checked as a whole and their secrets encrypted. Processes use them within 5 seconds.',
    body: createIntegrationBodySchema,
    status: 201,
    response: integrationSchema,
    errors: {
      400: [
        invalid,
        ['unknown_provider', 'Flow is not a provider: use flow, kapso, resend, …'],
        ['too_many_integrations', 'An environment has at most 100 integrations. Remove one first'],
      ],
      409: [
        ['already_configured', 'ollama is already configured in development. Change it with PATCH'],
      ],
    },
    example: {
      body: {
        provider: 'ollama',
        settings: { baseUrl: 'https://models.example.com', apiKey: 'key-f3a1' },
      },
      response: integration,
    },
  },
  updateIntegration: {
    summary: 'Change or switch an integration',
    description:
      'Merges the given settings into the stored ones, or switches the provider on or off. A change of the host, port or protocol of an address needs the secrets that are stored in the same request, so that they are not sent to a server that they were not meant for. Concurrent changes of different fields are all kept.',
    params: integrationParamsSchema,
    body: updateIntegrationBodySchema,
    response: integrationSchema,
    errors: {
      400: [
        invalid,
        [
          'secrets_required',
          'settings.apiKey: must be given again, because the address has changed',
        ],
      ],
      404: [notConfigured],
    },
    example: { body: { settings: { apiKey: 'key-f3a1' }, enabled: true }, response: integration },
  },
  testIntegration: {
    summary: 'Test an integration',
    description:
      'Sends a request that changes nothing to the provider, within 15 seconds. An address from the settings must be public, unless the operator allows it (`PROVIDER_ALLOWED_PRIVATE_HOSTS`, `MCP_ALLOWED_PRIVATE_HOSTS`).',
    params: integrationParamsSchema,
    response: integrationTestSchema,
    errors: {
      404: [notConfigured],
      429: [['too_many_tests', 'Other integrations of the organization are being tested']],
    },
    example: { response: { ok: false, reason: 'refuses the key', durationMs: 212 } },
  },
  removeIntegration: {
    summary: 'Remove an integration',
    description:
      'Deletes the settings and secrets. Pending payments of `flow` can then not be reconciled.',
    params: integrationParamsSchema,
    response: z.object({ success: z.literal(true).describe('The integration is removed.') }),
    errors: { 404: [notConfigured] },
    example: { response: { success: true } },
  },
});
