import { backlog } from '@parley/db';

export const paymentBacklogs = {
  /**
   * The process that created the link ended before it stored the answer of the provider.
   * Reconciliation finds it.
   */
  openOrders: backlog('open-orders', 'payment_orders', 'closed_at is null and lease_until < now()'),
};
