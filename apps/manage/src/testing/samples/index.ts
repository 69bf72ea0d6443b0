import { eventSamples } from './events';
import { organizationSamples } from './organization';
import { apiKeySamples } from './api-keys';
import { auditLogSamples } from './audit-log';
import { definitionSamples } from './definitions';
import { executionSamples } from './executions';
import { integrationSamples } from './integrations';
import { messageSamples } from './messages';
import { paymentSamples } from './payments';
import { publishableKeySamples } from './publishable-keys';
import type { ManageOperation, Prepare } from './sample';
import { threadSamples } from './threads';
import { toolSecretSamples } from './tool-secrets';
import { triggerSamples } from './triggers';
import { webhookDeliverySamples } from './webhook-deliveries';
import { statisticsSamples } from './statistics';
import { healthReportSamples } from './health-report';
import { memberSamples } from './members';
import { sessionSamples } from './sessions';

/** A valid request for each operation, for the tests that call all of them. */
export const samples: Record<ManageOperation, Prepare> = {
  ...threadSamples,
  ...messageSamples,
  ...webhookDeliverySamples,
  ...triggerSamples,
  ...paymentSamples,
  ...apiKeySamples,
  ...publishableKeySamples,
  ...integrationSamples,
  ...eventSamples,
  ...organizationSamples,
  ...auditLogSamples,
  ...definitionSamples,
  ...executionSamples,
  ...statisticsSamples,
  ...healthReportSamples,
  ...sessionSamples,
  ...memberSamples,
  ...toolSecretSamples,
};
