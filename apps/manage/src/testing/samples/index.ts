import { auditLogSamples } from './audit-log';
import { definitionSamples } from './definitions';
import { executionSamples } from './executions';
import type { ManageOperation, Prepare } from './sample';

/** A valid request for each operation, for the tests that call all of them. */
export const samples: Record<ManageOperation, Prepare> = {
  ...auditLogSamples,
  ...definitionSamples,
  ...executionSamples,
};
