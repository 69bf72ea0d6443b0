import type { RoleDefinition, Scope } from '@parley/contracts';
import { type Page, type Queryable, column, listStatement, pageValues, toPaged } from '@parley/db';

const rolesOfEnvironment = listStatement(
  'list-role-definitions',
  `select id, slug, name, revision, definition, created_at as "createdAt", updated_at as "updatedAt" from roles
   where tenant = $tenant and environment = $environment::"Environment"
     and ($beforeAt::timestamptz is null or (created_at, id) < ($beforeAt, $beforeId::text))
   order by created_at desc, id desc limit $limit`,
  {
    id: column.text,
    slug: column.text,
    name: column.text,
    revision: column.int4,
    definition: column.jsonb<RoleDefinition>(),
    createdAt: column.timestamptz,
    updatedAt: column.timestamptz,
  },
);

/** The roles of an environment with their definitions, newest first. */
export async function listRoleDefinitions(db: Queryable, scope: Scope, page: Page) {
  const { rows } = await db.query(scope, rolesOfEnvironment, {
    environment: scope.environment,
    ...pageValues(page),
  });
  return toPaged(rows, page, ({ createdAt, id }) => ({ at: createdAt, id }));
}
