import { z } from 'zod';
import { agentDefinitionSchema } from '../definitions/agent';
import { entityTypeDefinitionSchema } from '../definitions/entity-type';
import { roleDefinitionSchema } from '../definitions/role';
import { routerDefinitionSchema } from '../definitions/router';
import { toolDefinitionSchema } from '../definitions/tool';
import { triggerDefinitionSchema } from '../definitions/trigger';
import { chatResponseSchema } from '../http/chat';
import {
  entityListSchema,
  entityPageSchema,
  entitySchema,
  entityTypeListSchema,
  entityTypeSchema,
} from '../http/data';
import { errorBodySchema, rateLimitedBodySchema } from '../http/error';
import { resourceSetSchema, syncPullSchema, syncResultSchema, syncStateSchema } from '../http/sync';
import { jsonObjectSchema, jsonSchema } from '../json';

/** A JSON Schema, as OpenAPI 3.1 uses it. */
export type SchemaObject = Record<string, unknown>;

/** The schemas that get a name under `components`; all others are written where they are used. */
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
 * Converts zod schemas to JSON Schemas. Those in `named` become components. Requests are described
 * as clients send them, so that fields with a default are optional, and responses without
 * additional properties.
 */
export function toSchemas<R extends string, A extends string>(
  requests: Record<R, z.ZodType>,
  responses: Record<A, z.ZodType>,
): {
  components: Record<string, SchemaObject>;
  requests: Record<R, SchemaObject>;
  responses: Record<A, SchemaObject>;
} {
  const answers = convert({ ...responses, ...named }, 'output');
  const bodies = convert({ ...requests, ...named }, 'input');
  return {
    components: selectKeys(answers, Object.keys(named)),
    requests: selectKeys(bodies, Object.keys(requests) as R[]),
    responses: selectKeys(answers, Object.keys(responses) as A[]),
  };
}

function convert(
  schemas: Record<string, z.ZodType>,
  io: 'input' | 'output',
): Record<string, SchemaObject> {
  const registry = z.registry<{ id: string }>();
  const names = new Map(Object.entries(named).map(([name, schema]) => [schema, name]));
  // A copy, because a schema that is used in several places would be registered under only
  // one of its names.
  for (const [name, schema] of Object.entries(schemas))
    if (!names.has(schema)) registry.add(schema.clone(), { id: name });
  for (const [schema, name] of names) registry.add(schema, { id: name });
  const converted = z.toJSONSchema(registry, {
    io,
    unrepresentable: 'any',
    uri: (id) => place + id,
  }).schemas;
  return Object.fromEntries(
    Object.entries(schemas).map(([name, schema]) => {
      const ownName = names.get(schema);
      return [
        name,
        ownName !== undefined && name !== ownName
          ? { $ref: place + ownName }
          : plain(converted[name]!),
      ];
    }),
  );
}

/** `$schema` and `$id` only make sense in a stand-alone document. */
function plain({ $schema: _schema, $id: _id, ...schema }: SchemaObject): SchemaObject {
  return schema;
}

const selectKeys = <K extends string>(
  all: Record<string, SchemaObject>,
  names: readonly K[],
): Record<K, SchemaObject> =>
  Object.fromEntries(names.map((name) => [name, all[name]])) as Record<K, SchemaObject>;
