import { hasAnswerer } from '@parley/agents';
import type { Db, SecretBox } from '@parley/db';
import {
  type PublishableKey,
  createPublishableKey,
  listPublishableKeys,
  revokePublishableKey,
} from '@parley/identity';
import { type Handler, badRequest, notFound } from '@parley/service';
import { type AuditDeps, auditOf } from '../audit';
import { msOf, msOrNull, pageOf } from '../page';

interface Handlers {
  listPublishableKeys: Handler<'listPublishableKeys'>;
  createPublishableKey: Handler<'createPublishableKey'>;
  revokePublishableKey: Handler<'revokePublishableKey'>;
}

export const createPublishableKeyHandlers = ({
  db,
  box,
  ...deps
}: { db: Db; box: SecretBox } & AuditDeps): Handlers => ({
  async listPublishableKeys({ query }, { scope }) {
    const { page, answer } = pageOf('publishable-keys', scope, query);
    return answer(await listPublishableKeys(db, scope, page), toKey);
  },

  createPublishableKey: ({ body }, context) =>
    db.transaction(async (tx) => {
      const { scope } = context;
      if (!(await hasAnswerer(tx, scope, body)))
        throw badRequest(
          `No such agent or router in ${scope.environment}. Push it first`,
          undefined,
          'unknown_answerer',
        );
      const { created, identitySecret } = await createPublishableKey(tx, box, scope, body);
      const { id, ...after } = toKey(created);
      await auditOf(deps, context)(tx, {
        action: 'publishable_key.created',
        target: { type: 'publishable_key', id },
        after,
      });
      return { id, ...after, identitySecret };
    }),

  revokePublishableKey: ({ params: { id } }, context) =>
    db.transaction(async (tx) => {
      const revoked = await revokePublishableKey(tx, context.scope, id);
      if (revoked === null) throw notFound('Publishable key not found', 'key_not_found');
      await auditOf(deps, context)(tx, {
        action: 'publishable_key.revoked',
        target: { type: 'publishable_key', id },
        before: { name: revoked.name, key: revoked.key },
      });
      return { success: true };
    }),
});

const toKey = ({
  perVisitor,
  perAddress,
  perKey,
  createdAt,
  revokedAt,
  ...key
}: PublishableKey) => ({
  ...key,
  limits: { perVisitor, perAddress, perKey },
  createdAt: msOf(createdAt),
  revokedAt: msOrNull(revokedAt),
});
