import { z } from 'zod';
import {
  setToolSecretBodySchema,
  toolSecretChangeSchema,
  toolSecretListSchema,
  toolSecretParamsSchema,
} from '../http/tool-secrets';
import { defineOperations, get, post, remove } from './operation';

/** Permission `sync`, so that a key that pushes tools can also set their secrets. */
const admin = { beyondRoles: true, people: 'admin' } as const;
const table = {
  listToolSecrets: get('/v1/tool-secrets', 'sync', admin),
  setToolSecret: post('/v1/tool-secrets', 'sync', admin),
  deleteToolSecret: remove('/v1/tool-secrets/:name', 'sync', admin),
};

export const toolSecretOperations = defineOperations('Sync', table, {
  listToolSecrets: {
    summary: 'List the secrets of tools',
    description:
      'Returns the names of the secrets that are set in the environment and of those that its tools declare. Values are never returned.',
    response: toolSecretListSchema,
    example: {
      response: { data: [{ name: 'CARRIER_KEY', setAt: 1763683200000, tools: ['orders.total'] }] },
    },
  },
  setToolSecret: {
    summary: 'Set a secret of tools',
    description:
      'Creates or replaces a secret of the environment. Every call of a tool that begins after the response uses the new value.',
    body: setToolSecretBodySchema,
    response: toolSecretChangeSchema,
    errors: {
      400: [
        ['invalid_body', 'value: must have at least 4 characters'],
        [
          'too_many_secrets',
          'An environment has at most 100 secrets. Delete one first: parley tool-secrets delete NAME',
        ],
      ],
    },
    example: {
      body: { name: 'CARRIER_KEY', value: 'ck_live_9f2c…' },
      response: { name: 'CARRIER_KEY', setAt: 1763683200000 },
    },
  },
  deleteToolSecret: {
    summary: 'Delete a secret of tools',
    description: 'Deletes a secret of the environment. Tools that declare it then fail.',
    params: toolSecretParamsSchema,
    response: z.object({ success: z.literal(true).describe('The secret is deleted.') }),
    errors: { 404: [['secret_not_found', 'No secret CARRIER_KEY is set in development']] },
    example: { response: { success: true } },
  },
});
