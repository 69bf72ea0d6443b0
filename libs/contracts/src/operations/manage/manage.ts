import { auditLogOperations } from './audit-log';
import { definitionsOperations } from './definitions';
import { executionsOperations } from './executions';

/** The management API, which apps/manage serves. */
export const manageOperations = {
  ...auditLogOperations,
  ...definitionsOperations,
  ...executionsOperations,
} as const;
