import type { IncomingMessage } from 'node:http';
import { type AuditEntry, auditSourceOf, auditedName, recordAudit } from '@parley/audit';
import type { Queryable } from '@parley/db';
import { organizationsOf } from '@parley/identity';
import type { CallerContext, RequestContext } from '@parley/service';

export interface AuditDeps {
  keyLimit?: { addressOf: (request: IncomingMessage) => string };
}

type Context = Pick<CallerContext, 'caller' | 'scope' | 'request' | 'requestId'>;

/**
 * Adds the entry of a request to the audit log, in the transaction `tx` of its change.
 * `isOfOrganization`: the change is not one of an environment.
 */
export const auditOf =
  ({ keyLimit }: AuditDeps, context: Context) =>
  (
    tx: Queryable,
    { isOfOrganization = false, ...entry }: AuditEntry & { isOfOrganization?: boolean },
  ): Promise<void> => {
    const { scope } = context;
    const of = { tenant: scope.tenant, environment: isOfOrganization ? null : scope.environment };
    return recordAudit(tx, of, auditSourceOf(context, keyLimit?.addressOf), entry);
  };

/**
 * Adds an entry about a person to the audit log of each organization of the person: sessions belong
 * to none of them.
 */
export async function auditPerson(
  { keyLimit }: AuditDeps,
  { request, requestId }: Pick<RequestContext, 'request' | 'requestId'>,
  { id, email, name = null }: { id: string; email: string | null; name?: string | null },
  tx: Queryable,
  action: string,
  after?: AuditEntry['after'],
): Promise<void> {
  const address = keyLimit?.addressOf(request) ?? request.socket.remoteAddress ?? null;
  const entry = { action, target: { type: 'person', id }, after };
  for (const { tenant, isEmailProved } of await organizationsOf(tx, id)) {
    const actor = {
      type: 'person',
      id,
      name: auditedName({ name: name ?? id, email, isEmailProved }),
    } as const;
    await recordAudit(tx, { tenant, environment: null }, { actor, address, requestId }, entry);
  }
}
