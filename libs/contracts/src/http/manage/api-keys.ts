import { z } from 'zod';
import { permissionSchema } from '../../scope';
import { slugSchema } from '../../slug';
import { idParams, listOf, pageQuery, time, timeInBody, timeOrNull } from './list';

export const apiKeyParamsSchema = idParams;

const apiKeySchema = z.object({
  id: z.string().describe('Id of the key.'),
  name: z.string().describe('The name for people.'),
  prefix: z.string().describe('The beginning of the key, by which people recognize it.'),
  permissions: z.array(permissionSchema).describe('What the key opens.'),
  role: z.string().nullable().describe('Slug of the role that limits the key.'),
  createdAt: time('When it was created.'),
  lastUsedAt: timeOrNull('When it was last used, to the minute.'),
  expiresAt: timeOrNull('When it expires. Null: never.'),
  revokedAt: timeOrNull('When it was revoked.'),
});

export const listApiKeysQuerySchema = z.object(pageQuery);
export const apiKeyListSchema = listOf(apiKeySchema);

export const createApiKeyBodySchema = z.strictObject({
  name: z.string().trim().min(1).max(100).describe('The name for people.'),
  permissions: z
    .array(permissionSchema)
    .min(1)
    .max(5)
    .describe('`chat`, `data`, `sync`, `manage`, or `*` for all but `manage`.'),
  role: slugSchema.optional().describe('Slug of a role that limits the key. Not with `manage`.'),
  expiresAt: timeInBody('When it expires.').optional(),
});

const maxOverlapSeconds = 30 * 86_400;

export const rotateApiKeyBodySchema = z.strictObject({
  overlapSeconds: z
    .number()
    .int()
    .min(0)
    .max(maxOverlapSeconds)
    .default(86_400)
    .describe('How long the old key still works, in seconds.'),
});

export const createdApiKeySchema = apiKeySchema.extend({
  key: z.string().describe('The key. It is shown once.'),
});
