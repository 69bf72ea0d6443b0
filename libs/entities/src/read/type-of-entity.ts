import type { Scope } from '@parley/contracts';
import { type Queryable, column, statement } from '@parley/db';

const typeOf = statement(
  'type-of-entity',
  `select t.slug from entities e join entity_types t on t.tenant = $tenant and t.no = abs(e.part)
   where e.tenant = $tenant and e.id = $id and t.environment = $environment::"Environment"`,
  { slug: column.text },
);

/**
 * The slug of an entity's type; null if the environment has no entity with this id. Includes
 * deleted entities.
 */
export async function typeOfEntity(
  db: Queryable,
  scope: Scope,
  id: string,
): Promise<string | null> {
  const { rows } = await db.query(scope, typeOf, { environment: scope.environment, id });
  return rows[0]?.slug ?? null;
}
