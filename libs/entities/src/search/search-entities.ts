import type { Scope } from '@parley/contracts';
import { type Queryable, column } from '@parley/db';
import { type Access, maskedFieldIn } from '../access';
import { statusClauses } from '../filter/condition';
import { parseDataPath } from '../filter/parse-filters';
import { filterSql, storedEntity } from '../filter/filter-sql';
import { typeSql, positionScanSql } from '../read/scan-sql';
import { firstPosition, lastPosition } from '../field-index/position';
import { entityJsonSql, rowSeparatorSql } from '../read/entity-json';
import type { Invalid, MaskedField, TypeNotFound } from '../result';
import { Sql } from '../sql';
import { unstorableName } from '../storable';
import { EntityListText } from '../read/page-text';
import { partMark, searchQuery } from './search-vector';

export interface SearchInput {
  type: string;
  query: string;
  limit: number;
  status?: string;
  access?: Access;
}

export type SearchResult = { ok: true; list: EntityListText } | TypeNotFound | MaskedField | Invalid;

/** So many of the newest entities are looked through: a word that many of them have needs no index. */
const recentWindow = 500;
/** A word that so many of them have as it is, is in so much of all that the index would only list everything. */
const commonInWindow = recentWindow / 2;
/** So many matches of each kind are ranked at most. The `+ 0` below keeps PostgreSQL from scanning the tenant's entities for them. */
const maxRanked = 1_000;
/** A smaller limit gets the best of as many. */
const leastMatches = 20;

/** `no` is null when there is no such type, `items` when nothing matches. */
const foundRow = { no: column.int4.nullable, fields: column.textArray.nullable, items: column.text.nullable };

/**
 * Entities whose search fields hold all words of the query, the last one as a prefix; whole words first, then by weight
 * and number of the matches, then the newest (interface.md, search). Three sources, each bounded: the newest entities,
 * those that have the words as they are, and, when that is too few, those where the last one begins a word. A word that
 * half of the newest have is answered from these: ranking all would take longer the more there are.
 */
export async function searchEntities(db: Queryable, scope: Scope, input: SearchInput): Promise<SearchResult> {
  const { type, limit, access } = input;
  const unstorable = unstorableName(input);
  if (unstorable !== null) return unstorable;
  const sql = new Sql(scope);
  const query = searchQuery(input.query);
  const clauses = [...statusClauses(input.status), ...(access?.clauses ?? [])];
  const visible = filterSql(clauses, storedEntity('e'), sql);
  const marked = (text: string): string =>
    `(select replace(${sql.param(text, 'text')}, '${partMark}', part::text)::tsquery from t)`;
  const newest = positionScanSql('e', 't.part', { lo: firstPosition, hi: lastPosition }, sql);
  const ranked = `e.pos, e.part, e.search @@ (select exact from q) as whole, ts_rank(e.search, (select matches from q)) as rank`;
  const indexed = (words: 'exact' | 'matches'): string => `select ${ranked} from entities e
      where (select count(*) from newest) = ${recentWindow} and e.tenant = ${sql.tenant} and e.search @@ (select ${words} from q)
        and e.part + 0 = (select part from t) and ${visible}`;
  const text = `with ${typeSql({ scope, type, deleted: input.status === 'deleted' }, sql)},
    q as materialized (select ${marked(query?.matches ?? '')} as matches, ${marked(query?.exact ?? '')} as exact),
    newest as materialized (select e.pos, found.* from t cross join lateral (select * from entities e
        where ${newest.within} order by ${newest.order('desc')} limit ${recentWindow}) e
      left join lateral (select ${ranked} where e.search @@ (select matches from q) and ${visible}) found(found, part, whole, rank) on true),
    recent as (select pos, part, whole, rank from newest where found is not null),
    whole as materialized (${indexed('exact')} and (select count(*) from recent where whole) < ${commonInWindow} limit ${maxRanked}),
    begun as (${indexed('matches')} and (select count(*) from (select pos from recent union select pos from whole) found)
        < ${sql.param(Math.max(limit, leastMatches), 'int')} limit ${maxRanked}),
    ranked as (select * from recent union select * from whole union select * from begun),
    top as materialized (select * from ranked order by whole desc, rank desc, pos desc limit ${sql.param(limit, 'int')})
    select (select no from t) as no, (select search_fields from entity_types where tenant = ${sql.tenant} and no = (select no from t)) as fields,
      string_agg(${entityJsonSql('e', type, access?.masks ?? [], sql)}, ${rowSeparatorSql}
        order by top.whole desc, top.rank desc, top.pos desc) as items
    from top cross join lateral (select * from entities e where e.tenant = ${sql.tenant} and e.part = top.part and e.pos = top.pos offset 0) e`;
  const { statement, values } = sql.build('search-entities', text, foundRow);
  const { rows } = await db.query(scope, statement, values);
  const { no, fields, items } = rows[0]!;
  if (no === null) return { ok: false, reason: 'type_not_found' };
  const searched = (fields ?? []).map((field) => parseDataPath(field.startsWith('data.') ? field : `data.${field}`));
  const masked = maskedFieldIn(
    searched.filter((field) => typeof field !== 'string'),
    access?.masks ?? [],
  );
  if (masked !== null) return { ok: false, reason: 'masked_field', field: masked };
  return { ok: true, list: new EntityListText(`[${items ?? ''}]`) };
}
