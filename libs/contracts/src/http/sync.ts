import { z } from 'zod';
import { agentDefinitionSchema } from '../definitions/agent';
import { entityTypeDefinitionSchema } from '../definitions/entity-type';
import { roleDefinitionSchema } from '../definitions/role';
import { routerDefinitionSchema } from '../definitions/router';
import { toolDefinitionSchema } from '../definitions/tool';
import { triggerDefinitionSchema } from '../definitions/trigger';
import { environmentSchema } from '../scope';

/** In the order in which they are written: a kind only refers to kinds before it, or to its own. */
export const resourceKinds = ['entityTypes', 'roles', 'tools', 'agents', 'routers', 'triggers'] as const;
export type ResourceKind = (typeof resourceKinds)[number];

/** Each entry of a list is parsed on its own, so that every problem is reported with its place. */
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

/** Lists whose entries are still to be looked at, one by one, so that every problem is told at once. */
const rawResourceSetSchema = z.strictObject({
  entityTypes: definitionList,
  roles: definitionList,
  tools: definitionList,
  agents: definitionList,
  routers: definitionList,
  triggers: definitionList,
});
export type RawResourceSet = z.infer<typeof rawResourceSetSchema>;

export const syncBodySchema = z.strictObject({
  resources: resourceSetSchema,
  /** As pull has answered: it must be the key's, and moves nothing. */
  environment: environmentSchema.optional(),
  /** As pull has answered; `expectedVersion` is what guards. */
  version: z.number().optional(),
  dryRun: z.boolean().default(false),
  /** Deletes what is absent from the kinds that are given; off by default, so nothing is deleted by absence. */
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
  /** What prune left alone because something outside of the definitions still needs it. */
  refused: z.array(z.object({ slug: z.string(), reason: z.string() })).optional(),
});
export type KindResult = z.infer<typeof kindResultSchema>;

export const syncResultSchema = z.object({
  dryRun: z.boolean(),
  version: z.number(),
  results: z.partialRecord(z.enum(resourceKinds), kindResultSchema),
});
export type SyncResult = z.infer<typeof syncResultSchema>;

/** What `/v1/sync/state` knows of one resource: `version` counts the pushes that changed it. */
const resourceStateSchema = z.object({ slug: z.string(), name: z.string(), version: z.number(), hash: z.string() });

/** Answer of `/v1/sync/state`; `version` is what a push may give as `expectedVersion`. */
export const syncStateSchema = z.object({
  environment: environmentSchema,
  version: z.number(),
  resources: z.record(z.enum(resourceKinds), z.array(resourceStateSchema)),
});
export type SyncState = z.infer<typeof syncStateSchema>;

/** Answer of `/v1/sync/pull`: `resources` can be pushed back unchanged. */
export const syncPullSchema = z.object({
  environment: environmentSchema,
  version: z.number(),
  resources: resourceSetSchema.required(),
});
export type SyncPull = z.infer<typeof syncPullSchema>;
