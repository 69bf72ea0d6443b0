import { z } from 'zod';
import { agentDefinitionSchema } from '../definitions/agent';
import { entityTypeDefinitionSchema } from '../definitions/entity-type';
import { roleDefinitionSchema } from '../definitions/role';
import { routerDefinitionSchema } from '../definitions/router';
import { toolDefinitionSchema } from '../definitions/tool';
import { triggerDefinitionSchema } from '../definitions/trigger';
import { chatResponseSchema } from '../http/chat';
import { entityListSchema, entityPageSchema, entitySchema, entityTypeListSchema, entityTypeSchema } from '../http/data';
import { errorBodySchema, rateLimitedBodySchema } from '../http/error';
import { resourceSetSchema, syncPullSchema, syncResultSchema, syncStateSchema } from '../http/sync';
import { jsonObjectSchema, jsonSchema } from '../json';

/** A JSON Schema, as OpenAPI 3.1 holds it. */
export type SchemaObject = Record<string, unknown>;

/** What has a name of its own in the document; everything else stands where it is used. */
const named: Record<string, z.ZodType> = {
  Json: jsonSchema,
  JsonObject: jsonObjectSchema,
  Error: errorBodySchema,
  RateLimited: rateLimitedBodySchema,
  ChatResponse: chatResponseSchema,
  Entity: entitySchema,
  EntityPage: entityPageSchema,
  EntityList: entityListSchema,
  EntityType: entityTypeSchema,
  EntityTypeList: entityTypeListSchema,
  AgentDefinition: agentDefinitionSchema,
  EntityTypeDefinition: entityTypeDefinitionSchema,
  RoleDefinition: roleDefinitionSchema,
  ToolDefinition: toolDefinitionSchema,
  RouterDefinition: routerDefinitionSchema,
  TriggerDefinition: triggerDefinitionSchema,
  ResourceSet: resourceSetSchema,
  SyncState: syncStateSchema,
  SyncPull: syncPullSchema,
  SyncResult: syncResultSchema,
};
const place = '#/components/schemas/';

/**
 * JSON Schemas of zod schemas: by name what is `named`, and a schema for each of `requests` and `responses`, that refers
 * to it. Requests are described as they are sent, with defaults; answers as they come, and closed.
 */
export function toSchemas<R extends string, A extends string>(
  requests: Record<R, z.ZodType>,
  responses: Record<A, z.ZodType>,
): { components: Record<string, SchemaObject>; requests: Record<R, SchemaObject>; responses: Record<A, SchemaObject> } {
  const answers = convert({ ...responses, ...named }, 'output');
  const bodies = convert({ ...requests, ...named }, 'input');
  return {
    components: pick(answers, Object.keys(named)),
    requests: pick(bodies, Object.keys(requests) as R[]),
    responses: pick(answers, Object.keys(responses) as A[]),
  };
}

function convert(schemas: Record<string, z.ZodType>, io: 'input' | 'output'): Record<string, SchemaObject> {
  const registry = z.registry<{ id: string }>();
  const names = new Map(Object.entries(named).map(([name, schema]) => [schema, name]));
  // A copy: what stands in several places would else be known by the name of one of them.
  for (const [name, schema] of Object.entries(schemas))
    if (!names.has(schema)) registry.add(schema.clone(), { id: name });
  for (const [schema, name] of names) registry.add(schema, { id: name });
  const converted = z.toJSONSchema(registry, { io, unrepresentable: 'any', uri: (id) => place + id }).schemas;
  return Object.fromEntries(
    Object.entries(schemas).map(([name, schema]) => {
      const ownName = names.get(schema);
      return [name, ownName !== undefined && name !== ownName ? { $ref: place + ownName } : plain(converted[name]!)];
    }),
  );
}

/** Where a schema stands is its name here; dialect and identifier belong to documents of their own. */
function plain({ $schema: _schema, $id: _id, ...schema }: SchemaObject): SchemaObject {
  return schema;
}

const pick = <K extends string>(all: Record<string, SchemaObject>, names: readonly K[]): Record<K, SchemaObject> =>
  Object.fromEntries(names.map((name) => [name, all[name]])) as Record<K, SchemaObject>;
