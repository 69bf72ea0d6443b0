import { LRUCache } from 'lru-cache';
import type { JsonObject, Scope } from '@parley/contracts';
import { type Queryable, column, statement } from '@parley/db';
import { type Shape, otherShape } from '../field-index/index-rows';
import { type TypeSchema, readTypeSchema } from '../schema/type-schema';

/** What a write must know of its type before it can say its statement. */
export interface KnownType {
  no: number;
  schema: TypeSchema;
  searchFields: string[];
  /** Changes with every change of the type's row: a statement that meets another version does nothing. */
  version: string;
  /** The sets of fields known to be stored, in hexadecimal. */
  shapes: Set<string>;
}

export interface TypeCache {
  get(db: Queryable, scope: Scope, slug: string): Promise<KnownType | null>;
  forget(scope: Scope, slug: string): void;
}

const maxTypes = 5_000;
/** A type with more sets of fields than these keeps the rest under one that says nothing. */
const maxShapes = 256;

const readType = statement(
  'known-entity-type',
  `select no, schema, search_fields, xmin::text as version,
     array(select encode(shape, 'hex') from entity_shapes s where s.tenant = $1 and s.type_no = t.no limit ${2 * maxShapes}) as shapes
   from entity_types t where tenant = $1 and environment = $2::"Environment" and slug = $3`,
  {
    no: column.int4,
    schema: column.jsonb<JsonObject>(),
    search_fields: column.textArray,
    version: column.text,
    shapes: column.textArray,
  },
);

/**
 * Types as they were last seen. Never trusted: every write compares the version in its own statement and asks for the
 * type again when it has changed, so that a change of a schema holds from the next write on, in every process.
 */
export function createTypeCache(): TypeCache {
  const types = new LRUCache<string, KnownType>({ max: maxTypes });
  const keyOf = (scope: Scope, slug: string): string => `${scope.tenant} ${scope.environment} ${slug}`;
  return {
    async get(db, scope, slug) {
      const key = keyOf(scope, slug);
      const cached = types.get(key);
      if (cached !== undefined) return cached;
      const { rows } = await db.query(scope, readType, [scope.tenant, scope.environment, slug]);
      const [row] = rows;
      if (row === undefined) return null;
      const { no, version } = row;
      const type = {
        no,
        version,
        schema: readTypeSchema(row.schema),
        searchFields: row.search_fields,
        shapes: new Set(row.shapes),
      };
      types.set(key, type);
      return type;
    },
    forget: (scope, slug) => void types.delete(keyOf(scope, slug)),
  };
}

export const isKnownShape = (type: KnownType, shape: Shape): boolean => type.shapes.has(shape.key.toString('hex'));

/** The shape to store an entity under: its own, or the one that stands for all further ones. */
export function storedShape(type: KnownType, shape: Shape): Shape {
  if (shape.fields === null || isKnownShape(type, shape)) return shape;
  return type.shapes.size < maxShapes ? shape : otherShape;
}
