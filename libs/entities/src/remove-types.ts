import type { Scope } from '@parley/contracts';
import { type Queryable, column, statement } from '@parley/db';

const lock = statement(
  'lock-entity-types',
  `select from entity_types where tenant = $tenant and environment = $environment::"Environment" and slug = any($slugs)
   order by id for update`,
);

/**
 * Blocks new entities of these types until the transaction ends, so that a type that has
 * none can be deleted.
 */
export async function lockTypes(db: Queryable, scope: Scope, slugs: string[]): Promise<void> {
  if (slugs.length === 0) return;
  await db.query(scope, lock, { environment: scope.environment, slugs });
}

const countEntities = statement(
  'count-entities-of-types',
  `select t.slug, e.count from entity_types t cross join lateral
     (select count(*)::int from (select from entities where tenant = $tenant and part in (t.no, -t.no)
       limit 1001) few) e
   where t.tenant = $tenant and t.environment = $environment::"Environment" and t.slug = any($slugs) and e.count > 0`,
  { slug: column.text, count: column.int4 },
);

/**
 * Counts the entities of each type, up to 1,001, including deleted ones, which can be restored.
 * Omits empty types.
 */
export async function countEntitiesByType(db: Queryable, scope: Scope, slugs: string[]) {
  return (await db.query(scope, countEntities, { environment: scope.environment, slugs })).rows;
}

const removeShapes = statement(
  'delete-entity-shapes',
  `delete from entity_shapes s using entity_types t
   where s.tenant = $tenant and s.type_no = t.no and t.tenant = $tenant
     and t.environment = $environment::"Environment" and t.slug = any($slugs)`,
);

/** Deletes the shapes of these types, which no longer have entities. */
export async function deleteShapes(db: Queryable, scope: Scope, slugs: string[]): Promise<void> {
  await db.query(scope, removeShapes, { environment: scope.environment, slugs });
}
