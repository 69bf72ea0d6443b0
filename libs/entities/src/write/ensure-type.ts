import type { JsonObject, Scope } from '@parley/contracts';
import { type Queryable, newId, statement } from '@parley/db';

// The type may already have triggers, so all of its events wait for the relay until the next push
// sets its actions. `not exists` avoids a write if the type exists, and the conflict clause handles
// a concurrent insert.
const ensure = statement(
  'ensure-entity-type',
  `insert into entity_types (tenant, id, environment, slug, name, schema, search_fields, indexed_fields, relayed_actions, updated_at)
   select $tenant, $id, $environment::"Environment", $slug, $name, $schema::json, $searchFields, $searchFields,
     '{created,updated,deleted}', now()
   where not exists (select from entity_types where tenant = $tenant and environment = $environment::"Environment"
     and slug = $slug)
   on conflict (tenant, environment, slug) do nothing`,
);

/** Creates an entity type in an environment, unless a type with this slug exists. */
export async function ensureType(
  db: Queryable,
  scope: Scope,
  {
    slug,
    name,
    schema,
    searchFields,
  }: { slug: string; name: string; schema: JsonObject; searchFields: string[] },
): Promise<void> {
  await db.query(scope, ensure, {
    id: newId('type'),
    environment: scope.environment,
    slug,
    name,
    schema: JSON.stringify(schema),
    searchFields,
  });
}
