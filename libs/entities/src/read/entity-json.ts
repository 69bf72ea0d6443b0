import type { Entity } from '@parley/contracts';
import type { Mask } from '../access';
import type { Sql } from '../sql';
import { maskedSql } from './mask-sql';

/**
 * Separates the rows of a page. It cannot occur in a row, because PostgreSQL's JSON texts
 * contain no line ends.
 */
export const rowSeparator = ',\n';
export const rowSeparatorSql = `E'${rowSeparator.replace('\n', '\\n')}'`;

/**
 * Default maximum size of the JSON texts of a page in UTF-8, so that the memory of a process
 * does not grow with the size of entities. A page ends before the entity that would exceed it,
 * and has at least one.
 */
export const maxPageBytes = 8 * 1_048_576;

const pieceBytes = 65_536;
/**
 * At least as many pieces as the largest page, whose entities can each have one that is not full,
 * and the entity after it.
 */
const maxPieces = (maxBytes: number): number => Math.ceil(maxBytes / pieceBytes) + 101;

/**
 * SQL of the first of these rows, in their order, with more than fit in a page if there are more.
 * PostgreSQL stops at the maximum of a row number, but not of a sum: therefore a row counts as
 * often as its `json` has pieces, and the texts of further rows are not built.
 */
export const firstRowsSql = (rows: string, columns: string, maxBytes: number, sql: Sql): string =>
  `(select json, ${columns} from (select *, row_number() over () as pieces from (
      select ${columns}, piece, case when piece = 1 then json end as json
      from (select *, generate_series(1, 1 + octet_length(json) / ${pieceBytes}) as piece from ${rows}) r offset 0) r) r
    where pieces <= ${sql.param(maxPieces(maxBytes), 'int')} and piece = 1)`;

/** SQL of the JSON text of an entity, which is sent to the client as it is. */
export const entityJsonSql = (
  alias: string,
  type: string,
  masks: readonly Mask[],
  sql: Sql,
): string =>
  entityJsonFrom(alias, sql.param(typeJson(type), 'text'), maskedSql(`${alias}.data`, masks, sql));

/** The section of the JSON text with the type, for `entityJsonFrom`. */
export const typeJson = (type: string): string => `","type":${JSON.stringify(type)},"status":`;

/**
 * SQL of the JSON text of an entity, for a statement with a fixed text: `type` is the
 * placeholder of `typeJson`.
 */
export const entityJsonFrom = (alias: string, type: string, data = `${alias}.data`): string =>
  `'{"id":"' || ${alias}.id || ${type} || to_json(${alias}.status)::text || ',"data":' || ${data}::text
    || ',"createdAt":' || ${alias}.created_at || ',"updatedAt":' || ${alias}.updated_at || '}'`;

/** One entity as JSON text, and parsed for callers that read its fields. */
export class EntityText {
  constructor(readonly json: string) {}

  /** Read without parsing the rest: the id is the first field, and contains no escapes. */
  get id(): string {
    return this.json.slice('{"id":"'.length, this.json.indexOf('"', '{"id":"'.length));
  }

  get value(): Entity {
    return JSON.parse(this.json) as Entity;
  }
}
