import type { EntityTypeView, JsonObject, Scope } from '@parley/contracts';
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
   where tenant = $tenant and environment = $environment::"Environment" order by slug collate "C"`,
  storedType,
);

/** The entity types of an environment, ordered by slug. */
export async function readEntityTypes(
  db: Queryable,
  scope: Scope,
): Promise<RowOf<typeof storedType>[]> {
  return (await db.query(scope, typesOfEnvironment, { environment: scope.environment })).rows;
}

/** The entity types of an environment with flat schemas (docs/reference/data.md#entity-types). */
export async function listEntityTypes(db: Queryable, scope: Scope): Promise<EntityTypeView[]> {
  const types = await readEntityTypes(db, scope);
  return types.map((type) => ({ ...type, schema: flatSchema(type.schema) }));
}

const setFollowed = statement(
  'set-followed-changes',
  `with f as (select * from json_to_recordset($followed::json) f("entityType" text, action text, keys json)),
   w as (select no,
       array(select distinct action from f where "entityType" = e.slug order by 1) as actions,
       case when not exists (select from f where "entityType" = e.slug and keys is null) then
         array(select distinct key from f cross join json_array_elements_text(keys) key where "entityType" = e.slug order by 1) end as keys
     from entity_types e where tenant = $tenant and environment = $environment::"Environment")
   update entity_types t set relayed_actions = w.actions, event_keys = w.keys from w
   where t.tenant = $tenant and t.no = w.no and (t.relayed_actions, t.event_keys) is distinct from (w.actions, w.keys)`,
);

/** The changes that a trigger follows. */
export interface FollowedChange {
  entityType: string;
  action: string;
  /** The keys of `data` that its conditions and templates name. Null: all. */
  keys: readonly string[] | null;
}

/**
 * Stores with each entity type what its enabled triggers follow: only events of these actions wait
 * for the relay, and events of large entities keep these keys. Call it in the transaction that
 * changes the triggers. It waits for running writers of the types that change.
 */
export async function setFollowedChanges(
  db: Queryable,
  scope: Scope,
  followed: FollowedChange[],
): Promise<void> {
  await db.query(scope, setFollowed, {
    environment: scope.environment,
    followed: JSON.stringify(followed),
  });
}
