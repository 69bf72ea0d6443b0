import type { Scope } from '@parley/contracts';
import type { Queryable } from '@parley/db';
import type { Access } from '../access';
import { type PageInput, type PageResult, listPage } from './list-page';

/** Entities of a type, newest first (interface.md, GET /v1/data/:type). */
export function listEntities(db: Queryable, scope: Scope, input: PageInput & { access?: Access }): Promise<PageResult> {
  const query = JSON.stringify([scope.organizationId, scope.environment, input.type, input.status ?? null, {}, null]);
  return listPage(db, scope, { ...input, clauses: [], query, direction: 'desc' });
}
