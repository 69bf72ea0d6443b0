import type { Entity } from '@parley/contracts';
import type { Mask } from '../access';
import type { Sql } from '../sql';
import { maskedSql } from './mask-sql';

/** Rows of a page are joined by this; inside a row no line ends, since JSON texts of PostgreSQL hold none. */
export const rowSeparator = ',\n';
export const rowSeparatorSql = `E'${rowSeparator.replace('\n', '\\n')}'`;

/** SQL of the exact JSON text of an entity: PostgreSQL writes it, nobody parses and writes it again. */
export const entityJsonSql = (alias: string, type: string, masks: readonly Mask[], sql: Sql): string =>
  entityJsonFrom(alias, sql.param(typeJson(type), 'text'), maskedSql(`${alias}.data`, masks, sql));

/** The part of the text that names the type, for `entityJsonFrom`. */
export const typeJson = (type: string): string => `","type":${JSON.stringify(type)},"status":`;

/** The same for a statement whose text is always the same: `type` is the placeholder of `typeJson`. */
export const entityJsonFrom = (alias: string, type: string, data = `${alias}.data`): string =>
  `'{"id":"' || ${alias}.id || ${type} || to_json(${alias}.status)::text || ',"data":' || ${data}::text
    || ',"createdAt":' || ${alias}.created_at || ',"updatedAt":' || ${alias}.updated_at || '}'`;

/** The ready text of one entity, and the entity itself for callers that look into it. */
export class EntityText {
  constructor(readonly json: string) {}

  get value(): Entity {
    return JSON.parse(this.json) as Entity;
  }
}
