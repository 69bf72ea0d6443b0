import { z } from 'zod';
import { agentDefinitionSchema } from '../definitions/agent';
import { entityTypeDefinitionSchema } from '../definitions/entity-type';
import { roleDefinitionSchema } from '../definitions/role';
import { routerDefinitionSchema } from '../definitions/router';
import { toolDefinitionSchema } from '../definitions/tool';
import { triggerDefinitionSchema } from '../definitions/trigger';
import { environmentSchema } from '../scope';

/**
 * In the order in which a push writes them: a kind refers only to kinds before it, or to its own.
 */
export const resourceKinds = [
  'entityTypes',
  'roles',
  'tools',
  'agents',
  'routers',
  'triggers',
] as const;
export type ResourceKind = (typeof resourceKinds)[number];

export const definitionLimits = {
  /** Maximum size of the body of a push. */
  bodyBytes: 16 * 1_048_576,
  /**
   * Maximum size of all definitions of an environment together, as JSON. A pull of them, with its
   * other fields, can be pushed again.
   */
  totalBytes: 16 * 1_048_576 - 16 * 1_024,
} as const;

/**
 * Each entry of a list is parsed with its own schema, so that every problem is
 * reported with its path.
 */
export const definitionSchemas = {
  entityTypes: entityTypeDefinitionSchema,
  roles: roleDefinitionSchema,
  tools: toolDefinitionSchema,
  agents: agentDefinitionSchema,
  routers: routerDefinitionSchema,
  triggers: triggerDefinitionSchema,
} as const;

export const resourceSetSchema = z.strictObject({
  entityTypes: z
    .array(entityTypeDefinitionSchema)
    .max(1000)
    .optional()
    .describe('Entity types, by `slug`.'),
  roles: z.array(roleDefinitionSchema).max(1000).optional().describe('Roles, by `slug`.'),
  tools: z.array(toolDefinitionSchema).max(1000).optional().describe('Custom tools, by `name`.'),
  agents: z.array(agentDefinitionSchema).max(1000).optional().describe('Agents, by `slug`.'),
  routers: z.array(routerDefinitionSchema).max(1000).optional().describe('Routers, by `slug`.'),
  triggers: z.array(triggerDefinitionSchema).max(1000).optional().describe('Triggers, by `slug`.'),
});
export type ResourceSet = z.infer<typeof resourceSetSchema>;

const definitionList = z.array(z.unknown()).max(1000).optional();
const rawLists = Object.fromEntries(resourceKinds.map((kind) => [kind, definitionList]));
/**
 * Lists whose entries are not parsed yet. They are parsed one by one, so that all
 * problems are reported.
 */
const rawResourceSetSchema = z.strictObject(
  rawLists as Record<ResourceKind, typeof definitionList>,
);
export type RawResourceSet = z.infer<typeof rawResourceSetSchema>;

export const syncBodySchema = z.strictObject({
  resources: resourceSetSchema.describe(
    'The definitions by kind, at most 1,000 of each. Kinds that are not given stay unchanged.',
  ),
  environment: environmentSchema
    .optional()
    .describe('As a pull returns it. Must be the environment of the key.'),
  version: z
    .number()
    .optional()
    .describe('As a pull returns it. It has no effect: see `expectedVersion`.'),
  dryRun: z
    .boolean()
    .default(false)
    .describe('Reports what the push would change, and changes nothing.'),
  prune: z
    .boolean()
    .default(false)
    .describe('Deletes stored definitions that are missing from the given kinds.'),
  expectedVersion: z
    .int()
    .min(0)
    .optional()
    .describe(
      'Refuses the push with 409 unless the environment has this version. Default: any version.',
    ),
});

/** The body before its definitions are checked. */
export const rawSyncBodySchema = syncBodySchema.extend({ resources: rawResourceSetSchema });

const kindResultSchema = z.object({
  created: z
    .array(z.string())
    .describe('Slugs of new definitions, or names of new tools; likewise in the other lists.'),
  updated: z.array(z.string()).describe('Definitions that have changed.'),
  deleted: z.array(z.string()).describe('Definitions that `prune` has deleted.'),
  unchanged: z.array(z.string()).describe('Definitions that are stored in this form already.'),
  refused: z
    .array(
      z.object({
        slug: z.string().describe('Slug of the definition, or name of the tool.'),
        reason: z.string().describe('What uses it.'),
      }),
    )
    .optional()
    .describe(
      'Definitions that `prune` did not delete, because something outside of the definitions uses them.',
    ),
});
export type KindResult = z.infer<typeof kindResultSchema>;

export const syncResultSchema = z.object({
  dryRun: z.boolean().describe('Whether nothing was changed because the request asked for it.'),
  version: z
    .number()
    .describe(
      'Version of the environment after the push. A push that changes something raises it by 1.',
    ),
  results: z
    .partialRecord(z.enum(resourceKinds), kindResultSchema)
    .describe('What the push did with the definitions of each given kind.'),
});
export type SyncResult = z.infer<typeof syncResultSchema>;

/** One definition in `/v1/sync/state`. */
const resourceStateSchema = z.object({
  id: z.string().optional().describe('Only of an agent: the `agentId` of `POST /v1/chat`.'),
  slug: z.string().describe('Slug, or name of a tool.'),
  name: z.string().describe('Name for people.'),
  version: z.number().describe('Number of pushes that have created or changed it.'),
  hash: z.string().describe('SHA-256 of its JSON with sorted keys, in hex.'),
});

const environment = environmentSchema.describe('Environment of the key.');
const environmentVersion = z
  .number()
  .describe(
    'Version of the environment, 0 before the first push. A push may pass it as `expectedVersion`.',
  );

/** Response of `/v1/sync/state`. A push may pass its `version` as `expectedVersion`. */
export const syncStateSchema = z.object({
  organization: z
    .object({
      slug: z.string().describe('Its short name, as in `--org` of commands.'),
      name: z.string().describe('Its name for people.'),
    })
    .describe('The organization of the key.'),
  environment,
  version: environmentVersion,
  resources: z
    .object(
      Object.fromEntries(
        resourceKinds.map((kind) => [
          kind,
          z.array(resourceStateSchema).describe('The definitions of this kind.'),
        ]),
      ) as Record<ResourceKind, z.ZodArray<typeof resourceStateSchema>>,
    )
    .describe('The definitions of each kind.'),
});
export type SyncState = z.infer<typeof syncStateSchema>;

/** Response of `/v1/sync/pull`. Its `resources` can be pushed back unchanged. */
export const syncPullSchema = z.object({
  environment,
  version: environmentVersion,
  resources: resourceSetSchema
    .required()
    .describe('All definitions of the environment. They can be pushed unchanged.'),
});
export type SyncPull = z.infer<typeof syncPullSchema>;
