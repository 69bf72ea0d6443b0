import type { IncomingMessage } from 'node:http';
import { type AuditEntry, auditSourceOf, recordAudit } from '@parley/audit';
import type { Queryable } from '@parley/db';
import type { CallerContext } from '@parley/service';

export interface AuditDeps {
  db: Queryable;
  keyLimit?: { addressOf: (request: IncomingMessage) => string };
}

/**
 * Adds the entry of a request to the audit log, before what it is about or in its transaction `tx`.
 */
export const auditOf =
  ({ db, keyLimit }: AuditDeps, context: CallerContext) =>
  (entry: AuditEntry, tx: Queryable = db): Promise<void> =>
    recordAudit(tx, context.scope, auditSourceOf(context, keyLimit?.addressOf), entry);

/**
 * The entry of a tool that a person or a key runs. Its arguments may contain personal data, so they
 * are not recorded. Nothing adds the outcome later: entries do not change, and a process that ends
 * while the tool runs leaves its entry.
 */
export const toolRun = (tool: string, agent: string | null): AuditEntry => ({
  action: 'tool.run',
  target: { type: 'tool', id: tool },
  after: { agent },
});
