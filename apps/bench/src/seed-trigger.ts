import type { JsonObject, Scope } from '@parley/contracts';
import type { Db } from '@parley/db';

/** Stores a trigger that creates an `effect` for each created `order`. */
export async function seedTrigger(db: Db, scope: Scope, condition?: JsonObject): Promise<void> {
  const definition = {
    slug: 'bench',
    name: 'bench',
    on: { entityType: 'order', action: 'created', condition },
    actions: [
      { tool: 'entity.create', args: { type: 'effect', data: { n: '{{trigger.data.n}}' } } },
    ],
  };
  await db.pool.query(
    `insert into triggers (id, tenant, environment, slug, name, entity_type, action, definition, updated_at)
     values ('bench', $1, $2::"Environment", 'bench', 'bench', 'order', 'created', $3, now())`,
    [scope.tenant, scope.environment, JSON.stringify(definition)],
  );
  await db.pool.query(`update entity_types set relayed_actions = '{created}' where slug = 'order'`);
}
