export { auditPurge } from './audit-purge';
export { listAuditLog } from './list-audit-log';
export {
  type AuditEntry,
  type AuditSource,
  auditSourceOf,
  auditedName,
  recordAudit,
} from './record-audit';
