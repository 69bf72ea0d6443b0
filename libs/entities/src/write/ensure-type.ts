import type { JsonObject, Scope } from '@parley/contracts';
import { type Queryable, newId, statement } from '@parley/db';

// Triggers may be there before the type: all its events wait for the relay until a push says which have to.
// The look-up saves a write for the type that is there, and the conflict clause covers one made at the same moment.
const ensure = statement(
  'ensure-entity-type',
  `insert into entity_types (tenant, id, environment, slug, name, schema, search_fields, indexed_fields, relayed_actions, updated_at)
   select $1, $2, $3::"Environment", $4, $5, $6::json, $7, $7, '{created,updated,deleted}', now()
   where not exists (select from entity_types where tenant = $1 and environment = $3::"Environment" and slug = $4)
   on conflict (tenant, environment, slug) do nothing`,
);

/** Makes an entity type in an environment; one that is there, perhaps with fields of its own, is left as it is. */
export async function ensureType(
  db: Queryable,
  scope: Scope,
  { slug, name, schema, searchFields }: { slug: string; name: string; schema: JsonObject; searchFields: string[] },
): Promise<void> {
  const { tenant, environment } = scope;
  const values = [tenant, newId('type'), environment, slug, name, JSON.stringify(schema), searchFields];
  await db.query(scope, ensure, values);
}
