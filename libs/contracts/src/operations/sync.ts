import { z } from 'zod';
import {
  definitionLimits,
  rawSyncBodySchema,
  syncBodySchema,
  syncPullSchema,
  syncResultSchema,
  syncStateSchema,
} from '../http/sync';
import { type ErrorExample, defineOperations, post } from './operation';

const table = {
  syncState: post('/v1/sync/state', 'sync', {
    people: 'member',
    readOnly: true,
    beyondRoles: true,
  }),
  syncPull: post('/v1/sync/pull', 'sync', { people: 'member', readOnly: true, beyondRoles: true }),
  syncPush: post('/v1/sync', 'sync', {
    people: { development: 'member', production: 'admin' },
    beyondRoles: true,
    bodyLimitBytes: definitionLimits.bodyBytes,
  }),
};

const tooMany = (what: 'pushes' | 'pulls'): ErrorExample => [
  'too_many_syncs',
  `Other ${what} are running. Those of an organization run one at a time`,
];
const emptyKinds = { entityTypes: [], roles: [], tools: [], agents: [], routers: [], triggers: [] };
const note = { slug: 'note', name: 'Note', schema: { text: 'string' }, searchFields: ['text'] };

export const syncOperations = defineOperations('Sync', table, {
  syncState: {
    summary: 'Retrieve the state of an environment',
    description:
      'Returns the organization, and the slug, name, version and content hash of every definition, grouped by kind. An agent also has its id. The body is optional.',
    body: z.looseObject({}),
    bodyOptional: true,
    response: syncStateSchema,
    example: {
      body: {},
      response: {
        organization: { slug: 'acme', name: 'Acme' },
        environment: 'development',
        version: 3,
        resources: {
          ...emptyKinds,
          entityTypes: [{ slug: 'note', name: 'Note', version: 1, hash: '5d41…' }],
        },
      },
    },
  },
  syncPull: {
    summary: 'Pull definitions',
    description:
      'Returns every definition of the environment. Pushing the response back unchanged has no effect. The body is optional.',
    body: z.looseObject({}),
    bodyOptional: true,
    response: syncPullSchema,
    errors: { 429: [tooMany('pulls')] },
    example: {
      body: {},
      response: {
        environment: 'development',
        version: 3,
        resources: { ...emptyKinds, entityTypes: [note] },
      },
    },
  },
  syncPush: {
    summary: 'Push definitions',
    description:
      'Creates and updates definitions in one transaction: either all changes are made or none. Invalid definitions are answered with 400, and `details` lists every problem. Kinds that are not given stay unchanged. With `prune`, stored definitions that are missing from the given kinds are deleted. A person with the role `member` may not change tools with `secrets` or `runAs`, and roles of API keys.',
    body: rawSyncBodySchema,
    documentedBody: syncBodySchema,
    response: syncResultSchema,
    errors: {
      400: [['invalid_definitions', 'The definitions have problems']],
      403: [
        [
          'requires_admin',
          'Only an admin may change the tool "carrier.rate": it declares the secret CARRIER_KEY',
        ],
      ],
      409: [['version_conflict', 'The environment has changed: it is now at version 4']],
      413: [
        ['push_too_complex', 'The definitions take too long to check. Push fewer at a time'],
        [
          'definitions_too_large',
          'The definitions of development would have 16900000 bytes of JSON together, and may have 16760832. The largest: tool "a.b" (310000 bytes)',
        ],
      ],
      429: [tooMany('pushes')],
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
