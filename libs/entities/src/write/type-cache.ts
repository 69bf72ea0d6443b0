import { LRUCache } from 'lru-cache';
import type { JsonObject, Scope } from '@parley/contracts';
import { type Queryable, column, statement } from '@parley/db';
import { type Shape, otherShape } from '../field-index/index-rows';
import { type TypeSchema, readTypeSchema } from '../schema/type-schema';

/** The properties of an entity type that a write needs to build its statement. */
export interface CachedType {
  no: number;
  schema: TypeSchema;
  searchFields: string[];
  /**
   * Changes with every change of the type's row. A create with an outdated version does nothing.
   */
  version: string;
  /** The keys of the shapes that are known to be stored, in hexadecimal. */
  shapes: Set<string>;
}

export type TypeCache = ReturnType<typeof createTypeCache>;

const maxTypes = 5_000;
/** Maximum number of shapes of a type. All further ones are stored as `otherShape`. */
export const maxShapes = 256;

const readType = statement(
  'known-entity-type',
  `select no, schema, search_fields, xmin::text as version,
     array(select encode(shape, 'hex') from entity_shapes s where s.tenant = $tenant and s.type_no = t.no
       limit ${2 * maxShapes}) as shapes
   from entity_types t where tenant = $tenant and environment = $environment::"Environment" and slug = $slug`,
  {
    no: column.int4,
    schema: column.jsonb<JsonObject>(),
    search_fields: column.textArray,
    version: column.text,
    shapes: column.textArray,
  },
);

/**
 * Caches types. Every create compares the cached version in its statement and reads the type again
 * if it has changed, so that a changed schema applies from the next create on, in every process.
 */
export function createTypeCache() {
  const types = new LRUCache<string, CachedType>({ max: maxTypes });
  const keyOf = (scope: Scope, slug: string): string =>
    `${scope.tenant} ${scope.environment} ${slug}`;
  return {
    async get(db: Queryable, scope: Scope, slug: string): Promise<CachedType | null> {
      const key = keyOf(scope, slug);
      const cached = types.get(key);
      if (cached !== undefined) return cached;
      const { rows } = await db.query(scope, readType, { environment: scope.environment, slug });
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
    forget: (scope: Scope, slug: string): void => void types.delete(keyOf(scope, slug)),
  };
}

/**
 * The shape under which an entity is stored: its own, or `otherShape` if the type has
 * the maximum number.
 */
export function storedShape({ shapes }: Pick<CachedType, 'shapes'>, shape: Shape): Shape {
  if (shape.fields === null || shapes.has(shape.key.toString('hex'))) return shape;
  return shapes.size < maxShapes ? shape : otherShape;
}
