import { z } from 'zod';
import { agentDefinitionSchema } from '../definitions/agent';
import { entityTypeDefinitionSchema } from '../definitions/entity-type';
import { roleDefinitionSchema } from '../definitions/role';
import { routerDefinitionSchema } from '../definitions/router';
import { toolDefinitionSchema } from '../definitions/tool';
import { triggerDefinitionSchema } from '../definitions/trigger';
import { environmentSchema } from '../scope';

/** In the order in which a push writes them: a kind refers only to kinds before it, or to its own. */
export const resourceKinds = ['entityTypes', 'roles', 'tools', 'agents', 'routers', 'triggers'] as const;
export type ResourceKind = (typeof resourceKinds)[number];

/** Each entry of a list is parsed with its own schema, so that every problem is reported with its path. */
export const definitionSchemas = {
  entityTypes: entityTypeDefinitionSchema,
  roles: roleDefinitionSchema,
  tools: toolDefinitionSchema,
  agents: agentDefinitionSchema,
  routers: routerDefinitionSchema,
  triggers: triggerDefinitionSchema,
} as const;

export const resourceSetSchema = z.strictObject({
  entityTypes: z.array(entityTypeDefinitionSchema).max(1000).optional(),
  roles: z.array(roleDefinitionSchema).max(1000).optional(),
  tools: z.array(toolDefinitionSchema).max(1000).optional(),
  agents: z.array(agentDefinitionSchema).max(1000).optional(),
  routers: z.array(routerDefinitionSchema).max(1000).optional(),
  triggers: z.array(triggerDefinitionSchema).max(1000).optional(),
});
export type ResourceSet = z.infer<typeof resourceSetSchema>;

const definitionList = z.array(z.unknown()).max(1000).optional();
const rawLists = Object.fromEntries(resourceKinds.map((kind) => [kind, definitionList]));
/** Lists whose entries are not parsed yet. They are parsed one by one, so that all problems are reported. */
const rawResourceSetSchema = z.strictObject(rawLists as Record<ResourceKind, typeof definitionList>);
export type RawResourceSet = z.infer<typeof rawResourceSetSchema>;

export const syncBodySchema = z.strictObject({
  resources: resourceSetSchema,
  /** Accepted so that the response of a pull can be sent back. Must be the environment of the key. */
  environment: environmentSchema.optional(),
  /** Accepted so that the response of a pull can be sent back, and ignored: see `expectedVersion`. */
  version: z.number().optional(),
  dryRun: z.boolean().default(false),
  /** Deletes stored definitions that are missing from the given kinds. */
  prune: z.boolean().default(false),
  expectedVersion: z.int().min(0).optional(),
});

/** The body before its definitions are checked. */
export const rawSyncBodySchema = syncBodySchema.extend({ resources: rawResourceSetSchema });

const kindResultSchema = z.object({
  created: z.array(z.string()),
  updated: z.array(z.string()),
  deleted: z.array(z.string()),
  unchanged: z.array(z.string()),
  /** Definitions that prune did not delete, because something outside of the definitions uses them. */
  refused: z.array(z.object({ slug: z.string(), reason: z.string() })).optional(),
});
export type KindResult = z.infer<typeof kindResultSchema>;

export const syncResultSchema = z.object({
  dryRun: z.boolean(),
  version: z.number(),
  results: z.partialRecord(z.enum(resourceKinds), kindResultSchema),
});
export type SyncResult = z.infer<typeof syncResultSchema>;

/** One definition in `/v1/sync/state`. `version` counts the pushes that changed it. */
const resourceStateSchema = z.object({ slug: z.string(), name: z.string(), version: z.number(), hash: z.string() });

/** Response of `/v1/sync/state`. A push may pass its `version` as `expectedVersion`. */
export const syncStateSchema = z.object({
  environment: environmentSchema,
  version: z.number(),
  resources: z.record(z.enum(resourceKinds), z.array(resourceStateSchema)),
});
export type SyncState = z.infer<typeof syncStateSchema>;

/** Response of `/v1/sync/pull`. Its `resources` can be pushed back unchanged. */
export const syncPullSchema = z.object({
  environment: environmentSchema,
  version: z.number(),
  resources: resourceSetSchema.required(),
});
export type SyncPull = z.infer<typeof syncPullSchema>;
