export function AuditLog() {
  return null;
}
