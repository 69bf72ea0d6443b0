import type { Db } from '@parley/db';
import { findOrganizationName } from '@parley/identity';
import { resourceState } from '@parley/resources';
import { type Handler, unavailable } from '@parley/service';

/**
 * `POST /v1/sync/state`: the organization, and slugs, names, versions and content hashes of the
 * environment's definitions.
 */
export const syncState =
  ({ db }: { db: Db }): Handler<'syncState'> =>
  async (_input, { scope }) => {
    const organization = await findOrganizationName(db, scope.organizationId);
    // Deleted between the check of the key and this query.
    if (organization === null) throw unavailable('The organization is being deleted');
    const { slug, name } = organization;
    return { organization: { slug, name }, ...(await resourceState(db, scope)) };
  };
