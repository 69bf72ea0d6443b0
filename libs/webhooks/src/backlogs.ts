import { backlog } from '@parley/db';

const shared = { at: 'received_at', isShared: true };

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
