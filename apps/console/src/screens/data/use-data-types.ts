import { type Pushed, useDefinitions, useTypes } from '../../api/queries';
import { type DataType, readFields } from './fields';

const schemasOf = ({ entityTypes = [] }: Pushed) =>
  new Map(entityTypes.map(({ slug, schema }) => [slug, schema]));

/**
 * The entity types with their fields. The list of types has only the names of types;
 * definitions have the rest.
 */
export function useDataTypes() {
  const types = useTypes();
  const schemas = useDefinitions(schemasOf);
  // Without definitions the fields still have their types.
  const isReady = types.data !== undefined && !schemas.isPending;
  return {
    error: types.error,
    isPending: types.isPending || (types.data !== undefined && schemas.isPending),
    refetch: types.refetch,
    data: isReady
      ? types.data.data.map((type): DataType => ({
          ...type,
          fields: readFields(schemas.data?.get(type.slug) ?? type.schema, type.searchFields),
        }))
      : undefined,
  };
}
