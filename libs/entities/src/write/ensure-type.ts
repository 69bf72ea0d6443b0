import type { JsonObject, Scope } from '@parley/contracts';
import { type Queryable, newId, statement } from '@parley/db';

// The type may already have triggers, so all of its events wait for the relay until the next push sets its actions.
// `not exists` avoids a write if the type exists, and the conflict clause handles a concurrent insert.
const ensure = statement(
  'ensure-entity-type',
  `insert into entity_types (tenant, id, environment, slug, name, schema, search_fields, indexed_fields, relayed_actions, updated_at)
   select $1, $2, $3::"Environment", $4, $5, $6::json, $7, $7, '{created,updated,deleted}', now()
   where not exists (select from entity_types where tenant = $1 and environment = $3::"Environment" and slug = $4)
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
  const { tenant, environment } = scope;
  const values = [
    tenant,
    newId('type'),
    environment,
    slug,
    name,
    JSON.stringify(schema),
    searchFields,
  ];
  await db.query(scope, ensure, values);
}
