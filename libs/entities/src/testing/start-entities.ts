import type { JsonObject, Scope } from '@parley/contracts';
import { type Db, createDb, newId } from '@parley/db';
import type { Origin } from '@parley/events';
import { type Entities, createEntities } from '../create-entities';
import { beginNext, indexNewest } from '../write/segments';

export const origin: Origin = { actor: { type: 'system' } };
export const here: Scope = { organizationId: 'org_here', tenant: 7, environment: 'development' };

export interface TestEntities {
  db: Db;
  entities: Entities;
  createType(
    slug: string,
    options?: { scope?: Scope; schema?: JsonObject; searchFields?: string[] },
  ): Promise<string>;
  /** Creates an entity and returns its id. */
  add(type: string, data: JsonObject, status?: string, scope?: Scope): Promise<string>;
  /** Begins a new segment and indexes all entities of a type. */
  index(type: string, scope?: Scope): Promise<void>;
  stop(): Promise<void>;
}

/**
 * The store of entities on its own database. Segments are small, so that few entities fill
 * several of them.
 */
export async function startEntities(
  database: { url: string; drop(): Promise<void> },
  { segmentSize = 5 } = {},
): Promise<TestEntities> {
  const db = createDb({ databaseUrl: database.url });
  const entities = createEntities({ db, segmentSize });
  await db.pool.query(
    `insert into organizations (id, no, slug, name, updated_at) values ($1, $2, 'here', 'Here', now())`,
    [here.organizationId, here.tenant],
  );
  return {
    db,
    entities,
    async createType(slug, { scope = here, schema = {}, searchFields = [] } = {}) {
      const id = newId('type');
      await db.pool.query(
        `insert into entity_types (id, tenant, environment, slug, name, schema, search_fields, indexed_fields, updated_at)
         values ($1, $2, $3::"Environment", $4, $4, $5::json, $6, $6, now())`,
        [id, scope.tenant, scope.environment, slug, JSON.stringify(schema), searchFields],
      );
      return id;
    },
    async add(type, data, status, scope = here) {
      const result = await entities.create(scope, {
        ...origin,
        type,
        data,
        ...(status === undefined ? {} : { status }),
      });
      if (!result.ok) throw new Error(`Not created: ${JSON.stringify(result)}`);
      await entities.settled();
      return result.entity.value.id;
    },
    async index(type, scope = here) {
      await entities.settled();
      const { rows } = await db.pool.query<{ no: number; segment: number }>(
        'select no, segment from entity_types where slug = $1 and tenant = $2',
        [type, scope.tenant],
      );
      const { no, segment } = rows[0]!;
      await beginNext(db, scope, { no, segment });
      await indexNewest(db, scope, no);
    },
    async stop() {
      await entities.settled();
      await db.close();
      await database.drop();
    },
  };
}
