import type { Permission, Scope } from '@parley/contracts';
import type { Db, Queryable } from '@parley/db';
import {
  type ApiKeySummary,
  createApiKey,
  expireApiKey,
  listEnvironmentKeys,
  lockApiKey,
  revokeApiKey,
} from '@parley/identity';
import { listRoles } from '@parley/permissions';
import { type Handler, badRequest, conflict, notFound } from '@parley/service';
import { type AuditDeps, auditOf } from '../audit';
import { msOf, msOrNull, pageOf } from '../page';

interface Handlers {
  listApiKeys: Handler<'listApiKeys'>;
  createApiKey: Handler<'createApiKey'>;
  rotateApiKey: Handler<'rotateApiKey'>;
  revokeApiKey: Handler<'revokeApiKey'>;
}

export const createApiKeyHandlers = ({ db, ...deps }: { db: Db } & AuditDeps): Handlers => ({
  async listApiKeys({ query }, { scope }) {
    const { page, answer } = pageOf('api-keys', scope, query);
    return answer(await listEnvironmentKeys(db, scope, page), toKey);
  },

  createApiKey: ({ body: { name, permissions, role, expiresAt } }, context) =>
    db.transaction(async (tx) => {
      const { scope } = context;
      if (role !== undefined && permissions.includes('manage'))
        throw badRequest(
          'A key with a role cannot have the permission manage',
          undefined,
          'manage_with_role',
        );
      if (role !== undefined && !(await listRoles(tx, scope)).some(({ slug }) => slug === role))
        throw badRequest(
          `No role "${role}" in ${scope.environment}. Push it first`,
          undefined,
          'unknown_role',
        );
      if (expiresAt !== undefined && expiresAt <= Date.now())
        throw badRequest('expiresAt is in the past', undefined, 'invalid_expiry');
      const expiry = expiresAt === undefined ? undefined : new Date(expiresAt);
      const rights = { permissions: [...new Set(permissions)], role, expiresAt: expiry };
      const { id, key } = await createApiKey(tx, { ...scope, name, ...rights });
      const created = toKey((await lockApiKey(tx, scope, id))!);
      const { prefix } = created;
      await auditOf(deps, context)(tx, {
        action: 'api_key.created',
        target: { type: 'api_key', id },
        after: {
          name,
          prefix,
          permissions: rights.permissions,
          role: role ?? null,
          expiresAt: expiresAt ?? null,
        },
      });
      return { ...created, key };
    }),

  rotateApiKey: ({ params: { id }, body: { overlapSeconds } }, context) =>
    db.transaction(async (tx) => {
      const { scope } = context;
      const { name, permissions, role, expiresAt, revokedAt } = await keyOf(tx, scope, id);
      if (revokedAt !== null || (expiresAt !== null && expiresAt.getTime() <= Date.now()))
        throw conflict('The key is revoked or expired', 'key_not_valid');
      const rights = { permissions: permissions as Permission[], role: role ?? undefined };
      const { id: newId, key } = await createApiKey(tx, {
        ...scope,
        name,
        ...rights,
        expiresAt: expiresAt ?? undefined,
      });
      await expireApiKey(tx, scope, id, overlapSeconds);
      await auditOf(deps, context)(tx, {
        action: 'api_key.rotated',
        target: { type: 'api_key', id },
        after: { newId, overlapSeconds },
      });
      return { ...toKey((await lockApiKey(tx, scope, newId))!), key };
    }),

  revokeApiKey: ({ params: { id } }, context) =>
    db.transaction(async (tx) => {
      const { name, prefix } = await keyOf(tx, context.scope, id);
      await revokeApiKey(tx, context.scope, id);
      await auditOf(deps, context)(tx, {
        action: 'api_key.revoked',
        target: { type: 'api_key', id },
        before: { name, prefix },
      });
      return { success: true };
    }),
});

async function keyOf(tx: Queryable, scope: Scope, id: string): Promise<ApiKeySummary> {
  const key = await lockApiKey(tx, scope, id);
  if (key === null) throw notFound('API key not found', 'key_not_found');
  return key;
}

const toKey = ({
  environment: _,
  permissions,
  createdAt,
  lastUsedAt,
  expiresAt,
  revokedAt,
  ...key
}: ApiKeySummary) => ({
  ...key,
  permissions: permissions as Permission[],
  createdAt: msOf(createdAt),
  lastUsedAt: msOrNull(lastUsedAt),
  expiresAt: msOrNull(expiresAt),
  revokedAt: msOrNull(revokedAt),
});
