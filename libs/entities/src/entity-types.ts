import type { EntityTypeView, JsonObject, Scope } from '@parley/contracts';
import type { Queryable } from '@parley/db';
import { flatSchema } from './schema/type-schema';
import { statement } from './sql';

interface TypeRow {
  slug: string;
  name: string;
  schema: JsonObject;
  search_fields: string[];
}

/** All types of an environment by slug, each with the flat map of its fields (interface.md, GET /v1/entity-types). */
export async function listEntityTypes(db: Queryable, scope: Scope): Promise<EntityTypeView[]> {
  const { rows } = await db.query<TypeRow>(
    statement(
      `select slug, name, schema, search_fields from entity_types
       where organization_id = $1 and environment = $2::"Environment" order by slug collate "C"`,
      [scope.organizationId, scope.environment],
    ),
  );
  return rows.map(({ slug, name, schema, search_fields: searchFields }) => ({
    slug,
    name,
    schema: flatSchema(schema),
    searchFields,
  }));
}
