import type { EntityTypeView, JsonObject, Scope } from '@parley/contracts';
import type { Queryable } from '@parley/db';
import { flatSchema } from './schema/type-schema';
import { statement } from './sql';

export type StoredType = {
  slug: string;
  name: string;
  /** As it was pushed: the flat map or the JSON Schema subset. */
  schema: JsonObject;
  searchFields: string[];
};

/** All types of an environment, by slug. */
export async function readEntityTypes(db: Queryable, scope: Scope): Promise<StoredType[]> {
  const { rows } = await db.raw<StoredType>(
    statement(
      `select slug, name, schema, search_fields as "searchFields" from entity_types
       where organization_id = $1 and environment = $2::"Environment" order by slug collate "C"`,
      [scope.organizationId, scope.environment],
    ),
  );
  return rows;
}

/** The same, each with the flat map of its fields (interface.md, GET /v1/entity-types). */
export async function listEntityTypes(db: Queryable, scope: Scope): Promise<EntityTypeView[]> {
  const types = await readEntityTypes(db, scope);
  return types.map((type) => ({ ...type, schema: flatSchema(type.schema) }));
}
