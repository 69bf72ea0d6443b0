import type { Scope } from '@parley/contracts';
import { type Queryable, column } from '@parley/db';
import { type Access, maskedRead } from '../access';
import { statusClauses } from '../filter/condition';
import { parseDataPath } from '../filter/parse-filters';
import { filterSql, storedEntity } from '../filter/filter-sql';
import { typeSql, positionScanSql } from '../read/scan-sql';
import { firstPosition, lastPosition } from '../field-index/position';
import { entityJsonSql, firstRowsSql, maxPageBytes, rowSeparatorSql } from '../read/entity-json';
import type { Invalid, MaskedField, TypeNotFound } from '../result';
import { Sql } from '../sql';
import { unstorableName } from '../storable';
import { EntityListText } from '../read/page-text';
import { partPlaceholder, searchQuery } from './search-vector';

export interface SearchInput {
  type: string;
  query: string;
  limit: number;
  /** Maximum size of the result as JSON, with at least one entity. Default: 8 MiB. */
  maxBytes?: number;
  status?: string;
  access?: Access;
}

export type SearchResult =
  { ok: true; list: EntityListText } | TypeNotFound | MaskedField | Invalid;

/**
 * Number of the newest entities that are searched without the index, which answers searches
 * for frequent words.
 */
const recentWindow = 500;
/**
 * If at least this many of them have a word, it is frequent in the whole type, and the index would
 * list most entities.
 */
const commonInWindow = recentWindow / 2;
/** Maximum number of matches of each kind that are ranked. */
const maxRanked = 1_000;
/**
 * Prefix matches are added up to this number of results even if the limit is smaller, so that
 * ranking can choose among them.
 */
const minMatches = 20;

/** `no` is null if the type does not exist, `items` if nothing matches. */
const foundRow = {
  no: column.int4.nullable,
  fields: column.textArray.nullable,
  items: column.text.nullable,
};

/**
 * Returns the entities whose search fields contain all words of the query, the last one as a prefix
 * (docs/reference/data.md#search). Whole words are ranked first, then the weight and number of the
 * matches, then the newest entities. There are three bounded sources: the newest entities
 * (`recent`), indexed entities with the exact words (`whole`), and, if these are too few, indexed
 * entities with the prefix (`prefixed`). If half of the newest entities have the words, only these
 * are ranked, because the time to rank all matches grows with their number.
 */
export async function searchEntities(
  db: Queryable,
  scope: Scope,
  input: SearchInput,
): Promise<SearchResult> {
  const { type, limit, maxBytes = maxPageBytes, access } = input;
  const unstorable = unstorableName(input);
  if (unstorable !== null) return unstorable;
  const sql = new Sql();
  const query = searchQuery(input.query);
  const clauses = [...statusClauses(input.status), ...(access?.clauses ?? [])];
  const visible = filterSql(clauses, storedEntity('e'), sql);
  const marked = (text: string): string =>
    `(select replace(${sql.param(text, 'text')}, '${partPlaceholder}', part::text)::tsquery from t)`;
  const newest = positionScanSql('e', 't.part', { lo: firstPosition, hi: lastPosition }, sql);
  // The window's limit is a parameter: see docs/adr/0081. `e.part + 0` keeps PostgreSQL from
  // scanning all entities of the tenant instead of the index of words.
  const ranked = `e.pos, e.part, e.search @@ (select exact from q) as whole, ts_rank(e.search, (select matches from q)) as rank`;
  const indexed = (words: 'exact' | 'matches'): string => `select ${ranked} from entities e
      where (select count(*) from newest) = ${recentWindow} and e.tenant = ${sql.tenant} and e.search @@ (select ${words} from q)
        and e.part + 0 = (select part from t) and ${visible}`;
  const text = `with ${typeSql({ scope, type, deleted: input.status === 'deleted' }, sql)},
    q as materialized (select ${marked(query?.matches ?? '')} as matches, ${marked(query?.exact ?? '')} as exact),
    newest as materialized (select e.pos, found.* from t cross join lateral (select * from entities e
        where ${newest.within} order by ${newest.order('desc')} limit ${sql.param(recentWindow, 'int')}) e
      left join lateral (select ${ranked} where e.search @@ (select matches from q) and ${visible}) found(found, part, whole, rank) on true),
    recent as (select pos, part, whole, rank from newest where found is not null),
    whole as materialized (${indexed('exact')} and (select count(*) from recent where whole) < ${commonInWindow} limit ${maxRanked}),
    prefixed as (${indexed('matches')} and (select count(*) from (select pos from recent union select pos from whole) found)
        < ${sql.param(Math.max(limit, minMatches), 'int')} limit ${maxRanked}),
    ranked as (select * from recent union select * from whole union select * from prefixed),
    top as materialized (select * from ranked order by whole desc, rank desc, pos desc limit ${sql.param(limit, 'int')})
    select (select no from t) as no, (select search_fields from entity_types where tenant = ${sql.tenant} and no = (select no from t)) as fields,
      string_agg(json, ${rowSeparatorSql} order by n) filter (where n = 1 or bytes <= ${sql.param(maxBytes, 'int')}) as items
    from (select json, row_number() over w as n, sum(octet_length(json)) over w as bytes
      from ${firstRowsSql(
        `(select top.*, ${entityJsonSql('e', type, access?.masks ?? [], sql)} as json
        from top cross join lateral (select * from entities e where e.tenant = ${sql.tenant} and e.part = top.part and e.pos = top.pos offset 0) e offset 0) top`,
        'whole, rank, pos',
        maxBytes,
        sql,
      )} top
      window w as (order by top.whole desc, top.rank desc, top.pos desc rows unbounded preceding)) found`;
  const { statement, values } = sql.build('search-entities', text, foundRow, { isLong: true });
  const { rows } = await db.query(scope, statement, values);
  const { no, fields, items } = rows[0]!;
  if (no === null) return { ok: false, reason: 'type_not_found' };
  const searchFields = (fields ?? []).map((field) =>
    parseDataPath(field.startsWith('data.') ? field : `data.${field}`),
  );
  const masked = maskedRead(
    searchFields.filter((field) => typeof field !== 'string'),
    access?.masks ?? [],
  );
  if (masked !== null) return { ok: false, reason: 'masked_field', field: masked };
  return { ok: true, list: new EntityListText(`[${items ?? ''}]`) };
}
