import type { Entity } from '@parley/contracts';
import type { Mask } from '../access';
import type { Sql } from '../sql';
import { maskedSql } from './mask-sql';

/** Separates the rows of a page. It cannot occur in a row, because PostgreSQL's JSON texts contain no line ends. */
export const rowSeparator = ',\n';
export const rowSeparatorSql = `E'${rowSeparator.replace('\n', '\\n')}'`;

/** SQL of the JSON text of an entity, which is sent to the client as it is. */
export const entityJsonSql = (alias: string, type: string, masks: readonly Mask[], sql: Sql): string =>
  entityJsonFrom(alias, sql.param(typeJson(type), 'text'), maskedSql(`${alias}.data`, masks, sql));

/** The section of the JSON text with the type, for `entityJsonFrom`. */
export const typeJson = (type: string): string => `","type":${JSON.stringify(type)},"status":`;

/** SQL of the JSON text of an entity, for a statement with a fixed text: `type` is the placeholder of `typeJson`. */
export const entityJsonFrom = (alias: string, type: string, data = `${alias}.data`): string =>
  `'{"id":"' || ${alias}.id || ${type} || to_json(${alias}.status)::text || ',"data":' || ${data}::text
    || ',"createdAt":' || ${alias}.created_at || ',"updatedAt":' || ${alias}.updated_at || '}'`;

/** One entity as JSON text, and parsed for callers that read its fields. */
export class EntityText {
  constructor(readonly json: string) {}

  get value(): Entity {
    return JSON.parse(this.json) as Entity;
  }
}
