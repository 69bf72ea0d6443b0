import type { Environment } from '@parley/contracts';
import { column } from './statement';

/** The types of `scopeColumns`, for statements that return the scope of their rows. */
export const scopeRow = {
  organizationId: column.text,
  tenant: column.int4,
  environment: column.oneOf<Environment>(),
};

/** The columns of a row's scope. `row`: the alias of the table, with a dot. */
export const scopeColumns = (row = ''): string =>
  `organization_id(${row}tenant) as "organizationId", ${row}tenant, ${row}environment::text as environment`;
