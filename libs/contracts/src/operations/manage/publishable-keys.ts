import { z } from 'zod';
import {
  createPublishableKeyBodySchema,
  createdPublishableKeySchema,
  listPublishableKeysQuerySchema,
  publishableKeyListSchema,
  publishableKeyParamsSchema,
} from '../../http/manage/publishable-keys';
import { defineOperations, get, post, remove } from '../operation';

const admin = { people: 'admin', rateLimited: true } as const;
const table = {
  listPublishableKeys: get('/v1/publishable-keys', 'manage', admin),
  createPublishableKey: post('/v1/publishable-keys', 'manage', admin),
  revokePublishableKey: remove('/v1/publishable-keys/:id', 'manage', admin),
};

const key = {
  id: 'pkey_01',
  name: 'website',
  key: 'pk_dev_4fJ2aB9xQ0Lr7TzV1mWc3g',
  agentSlug: 'shop',
  routerSlug: null,
  origins: ['https://shop.example.com'],
  limits: { perVisitor: 60, perAddress: 600, perKey: 6_000 },
  createdAt: 1763683200000,
  revokedAt: null,
};

export const publishableKeyOperations = defineOperations('Settings', table, {
  listPublishableKeys: {
    summary: 'List publishable keys',
    description: 'Lists the publishable keys of the environment, also revoked ones.',
    query: listPublishableKeysQuerySchema,
    response: publishableKeyListSchema,
    errors: { 400: [['invalid_cursor', 'The cursor is invalid or belongs to another list']] },
    example: { response: { data: [key], cursor: 'c1.WyI…', hasMore: false } },
  },
  createPublishableKey: {
    summary: 'Create a publishable key',
    description:
      'Creates a key that a web page may show. It opens one agent or router to visitors on the listed origins, and nothing else. The identity secret is shown once.',
    body: createPublishableKeyBodySchema,
    status: 201,
    response: createdPublishableKeySchema,
    errors: {
      400: [['unknown_answerer', 'No such agent or router in development. Push it first']],
    },
    example: {
      body: { name: 'website', agentSlug: 'shop', origins: ['https://shop.example.com'] },
      response: { ...key, identitySecret: 'vY3k…' },
    },
  },
  revokePublishableKey: {
    summary: 'Revoke a publishable key',
    description:
      'Every process refuses the key and its sessions within one second. Revoking it again changes nothing.',
    params: publishableKeyParamsSchema,
    response: z.object({ success: z.literal(true).describe('The key is revoked.') }),
    errors: { 404: [['key_not_found', 'Publishable key not found']] },
    example: { response: { success: true } },
  },
});
