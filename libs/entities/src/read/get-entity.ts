import type { Scope } from '@parley/contracts';
import type { Queryable } from '@parley/db';
import type { Access } from '../access';
import { filterSql, storedEntity } from '../filter/filter-sql';
import type { Deleted, NotFound, OutOfScope, TypeNotFound } from '../result';
import { Sql, statement } from '../sql';
import { isStorable } from '../storable';
import { EntityText, entityJsonSql } from './entity-json';

export interface GetInput {
  type: string;
  id: string;
  access?: Access;
}

export type GetResult = { ok: true; entity: EntityText } | TypeNotFound | NotFound | Deleted | OutOfScope;

/** One entity by its id (interface.md, GET /v1/data/:type/:id); the type and the entity in one round trip. */
export async function getEntity(db: Queryable, scope: Scope, { type, id, access }: GetInput): Promise<GetResult> {
  if (!isStorable(type)) return { ok: false, reason: 'type_not_found' };
  if (!isStorable(id)) return { ok: false, reason: 'not_found' };
  const sql = new Sql();
  const text = `select e.part, ${entityJsonSql('e', type, access?.masks ?? [], sql)} as json,
      ${filterSql(access?.clauses ?? [], storedEntity('e'), sql)} as visible
    from entity_types t left join entities e on e.id = ${sql.param(id, 'text')} and e.part in (t.no, -t.no)
    where t.organization_id = ${sql.param(scope.organizationId, 'text')}
      and t.environment = ${sql.param(scope.environment, '"Environment"')} and t.slug = ${sql.param(type, 'text')}`;
  const { rows } = await db.query<{ part: number | null; json: string; visible: boolean }>(statement(text, sql.values));
  const [row] = rows;
  if (row === undefined) return { ok: false, reason: 'type_not_found' };
  if (row.part === null) return { ok: false, reason: 'not_found' };
  if (!row.visible) return { ok: false, reason: 'out_of_scope' };
  if (row.part < 0) return { ok: false, reason: 'deleted' };
  return { ok: true, entity: new EntityText(row.json) };
}
