import { eventOperations } from './events';
import { organizationOperations } from './organization';
import { integrationOperations } from './integrations';
import { apiKeyOperations } from './api-keys';
import { publishableKeyOperations } from './publishable-keys';
import { auditLogOperations } from './audit-log';
import { definitionsOperations } from './definitions';
import { executionsOperations } from './executions';
import { messageOperations } from './messages';
import { paymentOperations } from './payments';
import { threadOperations } from './threads';
import { triggerOperations } from './triggers';
import { webhookDeliveryOperations } from './webhook-deliveries';
import { statisticsOperations } from './statistics';
import { healthReportOperations } from './health-report';
import { memberOperations } from './members';
import { sessionOperations } from './sessions';

/** The management API, which apps/manage serves. */
export const manageOperations = {
  ...threadOperations,
  ...messageOperations,
  ...webhookDeliveryOperations,
  ...triggerOperations,
  ...paymentOperations,
  ...apiKeyOperations,
  ...publishableKeyOperations,
  ...integrationOperations,
  ...eventOperations,
  ...organizationOperations,
  ...auditLogOperations,
  ...definitionsOperations,
  ...executionsOperations,
  ...statisticsOperations,
  ...healthReportOperations,
  ...sessionOperations,
  ...memberOperations,
} as const;
