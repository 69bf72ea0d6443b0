export { auditPurge } from './audit-purge';
export { type AuditFilter, listAuditLog } from './list-audit-log';
export { type AuditEntry, type AuditSource, auditSourceOf, recordAudit } from './record-audit';
