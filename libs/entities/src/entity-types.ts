import type { EntityTypeView, JsonObject, Scope } from '@parley/contracts';
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
   where organization_id = $1 and environment = $2::"Environment" order by slug collate "C"`,
  storedType,
);

/** All types of an environment, by slug. */
export async function readEntityTypes(db: Queryable, scope: Scope): Promise<RowOf<typeof storedType>[]> {
  return (await db.query(scope, typesOfEnvironment, [scope.organizationId, scope.environment])).rows;
}

/** The same, each with the flat map of its fields (interface.md, GET /v1/entity-types). */
export async function listEntityTypes(db: Queryable, scope: Scope): Promise<EntityTypeView[]> {
  const types = await readEntityTypes(db, scope);
  return types.map((type) => ({ ...type, schema: flatSchema(type.schema) }));
}
