import type { Environment } from '@parley/contracts';
import { column } from './statement';

/** What a statement returns that finds the scope of its rows: `scopeColumns` and their types. */
export const scopeRow = {
  organizationId: column.text,
  tenant: column.int4,
  environment: column.oneOf<Environment>(),
};

/** `row`: the table's alias, with a dot. */
export const scopeColumns = (row = ''): string =>
  `organization_id(${row}tenant) as "organizationId", ${row}tenant, ${row}environment::text as environment`;
