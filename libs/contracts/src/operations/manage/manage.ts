import { auditLogOperations } from './audit-log';

/** The management API, which apps/manage serves. */
export const manageOperations = {
  ...auditLogOperations,
} as const;
