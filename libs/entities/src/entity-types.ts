import type { EntityTypeView, JsonObject, Scope, TriggerDefinition } from '@parley/contracts';
import { type Queryable, type RowOf, column, statement } from '@parley/db';
import { flatSchema } from './schema/type-schema';

const storedType = {
  slug: column.text,
  name: column.text,
  /** As it was pushed: a flat map of field to type name, or a subset of JSON Schema. */
  schema: column.jsonb<JsonObject>(),
  searchFields: column.textArray,
};

const typesOfEnvironment = statement(
  'list-entity-types',
  `select slug, name, schema, search_fields as "searchFields" from entity_types
   where tenant = $1 and environment = $2::"Environment" order by slug collate "C"`,
  storedType,
);

/** The entity types of an environment, ordered by slug. */
export async function readEntityTypes(db: Queryable, scope: Scope): Promise<RowOf<typeof storedType>[]> {
  return (await db.query(scope, typesOfEnvironment, [scope.tenant, scope.environment])).rows;
}

/** The entity types of an environment with flat schemas (docs/reference/data.md#entity-types). */
export async function listEntityTypes(db: Queryable, scope: Scope): Promise<EntityTypeView[]> {
  const types = await readEntityTypes(db, scope);
  return types.map((type) => ({ ...type, schema: flatSchema(type.schema) }));
}

const setActions = statement(
  'set-relayed-actions',
  `update entity_types t set relayed_actions = w.actions
   from (select no, array(select distinct "on"->>'action' from json_to_recordset($3::json) f("on" json, enabled boolean)
       where "on"->>'entityType' = e.slug and enabled is not false order by 1) as actions
     from entity_types e where tenant = $1 and environment = $2::"Environment") w
   where t.tenant = $1 and t.no = w.no and t.relayed_actions <> w.actions`,
);

/**
 * Stores with each entity type which actions have enabled triggers: only events of these actions wait for the relay. Call
 * it in the transaction that changes the triggers. It waits for running writers of the types whose actions change.
 */
export async function setRelayedActions(db: Queryable, scope: Scope, triggers: TriggerDefinition[]): Promise<void> {
  await db.query(scope, setActions, [scope.tenant, scope.environment, JSON.stringify(triggers)]);
}
