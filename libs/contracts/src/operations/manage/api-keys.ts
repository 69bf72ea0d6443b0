import {
  apiKeyListSchema,
  apiKeyParamsSchema,
  createApiKeyBodySchema,
  createdApiKeySchema,
  listApiKeysQuerySchema,
  rotateApiKeyBodySchema,
} from '../../http/manage/api-keys';
import { z } from 'zod';
import { type ErrorExample, defineOperations, get, post, remove } from '../operation';

const admin = { people: 'admin', rateLimited: true } as const;
const table = {
  listApiKeys: get('/v1/api-keys', 'manage', admin),
  createApiKey: post('/v1/api-keys', 'manage', admin),
  rotateApiKey: post('/v1/api-keys/:id/rotate', 'manage', admin),
  revokeApiKey: remove('/v1/api-keys/:id', 'manage', admin),
};

const key = {
  id: 'key_01',
  name: 'website',
  prefix: 'sk_dev_4fJ2aB',
  permissions: ['chat'],
  role: null,
  createdAt: 1763683200000,
  lastUsedAt: null,
  expiresAt: null,
  revokedAt: null,
};
const created = { ...key, key: 'sk_dev_4fJ2aB…' };
const notFound: ErrorExample = ['key_not_found', 'API key not found'];

export const apiKeyOperations = defineOperations('Settings', table, {
  listApiKeys: {
    summary: 'List API keys',
    description:
      'Lists the keys of the environment, also revoked and expired ones. Keys themselves are never shown again.',
    query: listApiKeysQuerySchema,
    response: apiKeyListSchema,
    errors: { 400: [['invalid_cursor', 'The cursor is invalid or belongs to another list']] },
    example: { response: { data: [key], cursor: 'c1.WyI…', hasMore: false } },
  },
  createApiKey: {
    summary: 'Create an API key',
    description: 'Creates a key of the environment. Store it: only its hash is kept.',
    body: createApiKeyBodySchema,
    status: 201,
    response: createdApiKeySchema,
    errors: {
      400: [
        ['unknown_role', 'No role "clerk" in development. Push it first'],
        ['manage_with_role', 'A key with a role cannot have the permission manage'],
        ['invalid_expiry', 'expiresAt is in the past'],
      ],
    },
    example: { body: { name: 'website', permissions: ['chat'] }, response: created },
  },
  rotateApiKey: {
    summary: 'Rotate an API key',
    description:
      'Creates a key with the same name and rights. The old one expires after the overlap.',
    params: apiKeyParamsSchema,
    body: rotateApiKeyBodySchema,
    bodyOptional: true,
    status: 201,
    response: createdApiKeySchema,
    errors: { 404: [notFound], 409: [['key_not_valid', 'The key is revoked or expired']] },
    example: { body: { overlapSeconds: 3600 }, response: created },
  },
  revokeApiKey: {
    summary: 'Revoke an API key',
    description:
      'Every process refuses the key within one second. Revoking it again changes nothing.',
    params: apiKeyParamsSchema,
    response: z.object({ success: z.literal(true).describe('The key is revoked.') }),
    errors: { 404: [notFound] },
    example: { response: { success: true } },
  },
});
