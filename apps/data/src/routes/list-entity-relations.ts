import type { Access, Entities } from '@parley/entities';
import { accessWith, actorOf, loadPermissions } from '@parley/permissions';
import type { CallerContext, Handler } from '@parley/service';
import { type AccessDeps, requireAccess } from '../require-access';
import { entityFailure } from '../entity-failure';

type Deps = AccessDeps & { entities: Pick<Entities, 'get' | 'relations'> };

/**
 * `GET /v1/data/:type/:id/relations`: the relations with entities that the caller may
 * read, newest first.
 */
export const listEntityRelations =
  (deps: Deps): Handler<'listEntityRelations'> =>
  async ({ params: { type, id }, query }, context) => {
    const { access } = await requireAccess(deps, context, 'read', type);
    const found = await deps.entities.get(context.scope, { type, id, access });
    if (!found.ok) throw entityFailure(found, type);
    const readable = await readableTypes(deps, context);
    const listed = await deps.entities.relations(context.scope, {
      entityId: id,
      ...query,
      readable,
    });
    if (!listed.ok) throw entityFailure(listed, type, 'query');
    return listed.page;
  };

/**
 * The types that the caller may read, each with the visible entities; undefined when no role
 * restricts the caller.
 */
async function readableTypes(
  { db, entities }: AccessDeps,
  { caller, scope }: CallerContext,
): Promise<ReadonlyMap<string, Access | undefined> | undefined> {
  const actor = actorOf(caller);
  const permissions = await loadPermissions(db, scope, actor);
  if (permissions.roles === null) return undefined;
  const readable = new Map<string, Access | undefined>();
  for (const { slug } of await entities.types(scope))
    if (permissions.decide('read', slug).allowed)
      readable.set(slug, await accessWith(db, scope, actor, permissions, slug));
  return readable;
}
