import { auditLogOperations } from './audit-log';
import { executionsOperations } from './executions';

/** The management API, which apps/manage serves. */
export const manageOperations = {
  ...auditLogOperations,
  ...executionsOperations,
} as const;
