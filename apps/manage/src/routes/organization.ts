import { isZoneName } from '@parley/contracts';
import type { Db } from '@parley/db';
import { changeOrganization, readOrganization } from '@parley/identity';
import { type Handler, badRequest } from '@parley/service';
import { type AuditDeps, auditOf } from '../audit';

interface Handlers {
  getOrganization: Handler<'getOrganization'>;
  changeOrganization: Handler<'changeOrganization'>;
}

export const createOrganizationHandlers = ({ db, ...deps }: { db: Db } & AuditDeps): Handlers => ({
  getOrganization: async (_input, { scope }) => readOrganization(db, scope.organizationId),

  changeOrganization: ({ body }, context) =>
    db.transaction(async (tx) => {
      const { organizationId } = context.scope;
      if (body.timezone !== undefined && !isZoneName(body.timezone))
        throw badRequest(`"${body.timezone}" is not a time zone`, undefined, 'invalid_timezone');
      const changed = await changeOrganization(tx, organizationId, body);
      const { nameBefore, timezoneBefore, conversationsBefore, ...after } = changed;
      await auditOf(deps, context)(tx, {
        action: 'organization.changed',
        target: { type: 'organization', id: organizationId },
        before: { name: nameBefore, timezone: timezoneBefore, conversations: conversationsBefore },
        after: {
          name: after.name,
          timezone: after.timezone,
          conversations: body.conversations ?? null,
        },
        isOfOrganization: true,
      });
      return after;
    }),
});
