import type { Entities } from '@parley/entities';
import { type Handler, RawJson } from '@parley/service';
import { type AccessDeps, requireAccess } from '../require-access';
import { entityFailure } from '../entity-failure';

/** `GET /v1/data/:type`: a page of entities, newest first. */
export const listEntities =
  (deps: AccessDeps & { entities: Pick<Entities, 'list'> }): Handler<'listEntities'> =>
  async ({ params: { type }, query }, context) => {
    const { access } = await requireAccess(deps, context, 'list', type);
    const listed = await deps.entities.list(context.scope, { type, ...query, access });
    if (!listed.ok) throw entityFailure(listed, type, 'query');
    return new RawJson(listed.page.json);
  };
