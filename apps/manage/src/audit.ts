import type { IncomingMessage } from 'node:http';
import { type AuditEntry, auditSourceOf, recordAudit } from '@parley/audit';
import type { Queryable } from '@parley/db';
import type { CallerContext } from '@parley/service';

export interface AuditDeps {
  keyLimit?: { addressOf: (request: IncomingMessage) => string };
}

type Context = Pick<CallerContext, 'caller' | 'scope' | 'request' | 'requestId'>;

/**
 * Adds the entry of a request to the audit log, in the transaction `tx` of its change. `isOfOrganization`: the change is not
 * one of an environment.
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
