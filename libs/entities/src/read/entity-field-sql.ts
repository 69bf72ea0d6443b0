/**
 * SQL: the text of a field of an entity, for statements that select rows of another library by it.
 */
export const entityFieldSql = (
  field: string,
  { tenant, id }: { tenant: string; id: string },
): string =>
  `(select data->>'${field}' from entities where entities.tenant = ${tenant} and entities.id = ${id})`;
