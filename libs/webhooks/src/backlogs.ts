import { backlog } from '@parley/db';
import { inEnvironment } from './own-deliveries';

const shared = { at: 'received_at', inEnvironment };

export const deliveryBacklogs = {
  failedDeliveries: backlog(
    'failed-deliveries',
    'webhook_deliveries',
    `status in ('failed', 'unattributed') and status = 'failed'`,
    shared,
  ),
  unattributedDeliveries: backlog(
    'unattributed-deliveries',
    'webhook_deliveries',
    `status in ('failed', 'unattributed') and status = 'unattributed'`,
    shared,
  ),
  heldDeliveries: backlog('held-deliveries', 'webhook_deliveries', `status = 'held'`, shared),
};
