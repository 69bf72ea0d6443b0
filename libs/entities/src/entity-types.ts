import type { EntityTypeView, JsonObject, Scope, TriggerDefinition } from '@parley/contracts';
import { type Queryable, type RowOf, column, statement } from '@parley/db';
import { flatSchema } from './schema/type-schema';

const storedType = {
  slug: column.text,
  name: column.text,
  /** As it was pushed: the flat map or the JSON Schema subset. */
  schema: column.jsonb<JsonObject>(),
  searchFields: column.textArray,
};

const typesOfEnvironment = statement(
  'list-entity-types',
  `select slug, name, schema, search_fields as "searchFields" from entity_types
   where tenant = $1 and environment = $2::"Environment" order by slug collate "C"`,
  storedType,
);

/** All types of an environment, by slug. */
export async function readEntityTypes(db: Queryable, scope: Scope): Promise<RowOf<typeof storedType>[]> {
  return (await db.query(scope, typesOfEnvironment, [scope.tenant, scope.environment])).rows;
}

/** The same, each with the flat map of its fields (interface.md, GET /v1/entity-types). */
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
 * Notes on the types of an environment which changes its triggers follow: the events of all others do not wait for the
 * relay. To be called in the transaction that changes triggers: writers of a type whose actions change end before it.
 */
export async function setRelayedActions(db: Queryable, scope: Scope, triggers: TriggerDefinition[]): Promise<void> {
  await db.query(scope, setActions, [scope.tenant, scope.environment, JSON.stringify(triggers)]);
}
