import { z } from 'zod';
import { rawSyncBodySchema, syncBodySchema, syncPullSchema, syncResultSchema, syncStateSchema } from '../http/sync';
import { defineOperations, post } from './operation';

const table = {
  syncState: post('/v1/sync/state', 'sync', { readOnly: true }),
  syncPull: post('/v1/sync/pull', 'sync', { readOnly: true }),
  syncPush: post('/v1/sync', 'sync'),
};

const emptyKinds = { entityTypes: [], roles: [], tools: [], agents: [], routers: [], triggers: [] };
const note = { slug: 'note', name: 'Note', schema: { text: 'string' }, searchFields: ['text'] };

export const syncOperations = defineOperations('Sync', table, {
  syncState: {
    summary: 'What an environment holds',
    description: 'Per kind the slugs, names, versions and content hashes of its definitions. No body is needed.',
    body: z.looseObject({}),
    bodyOptional: true,
    response: syncStateSchema,
    example: {
      body: {},
      response: {
        environment: 'development',
        version: 3,
        resources: { ...emptyKinds, entityTypes: [{ slug: 'note', name: 'Note', version: 1, hash: '5d41…' }] },
      },
    },
  },
  syncPull: {
    summary: 'Every definition of an environment',
    description: 'The answer can be pushed back as it is, and then changes nothing. No body is needed.',
    body: z.looseObject({}),
    bodyOptional: true,
    response: syncPullSchema,
    example: {
      body: {},
      response: { environment: 'development', version: 3, resources: { ...emptyKinds, entityTypes: [note] } },
    },
  },
  syncPush: {
    summary: 'Bring an environment to a set of definitions',
    description:
      'All or nothing. Every problem is reported at once, in `details`, before anything is written. Kinds that are absent are left alone; `prune` also deletes what is absent from those that are given.',
    body: rawSyncBodySchema,
    documentedBody: syncBodySchema,
    response: syncResultSchema,
    errors: {
      400: [['invalid_definitions', 'The definitions have problems']],
      409: [['version_conflict', 'The environment has changed since: it is at version 4']],
    },
    example: {
      body: { resources: { entityTypes: [note] }, dryRun: true },
      response: {
        dryRun: true,
        version: 3,
        results: { entityTypes: { created: ['note'], updated: [], deleted: [], unchanged: [] } },
      },
    },
  },
});
