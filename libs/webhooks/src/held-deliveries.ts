import { droppedReason, heldWork } from '@parley/db';

/** Deliveries of providers that were stored and not processed. */
export const heldDeliveries = heldWork({
  kind: 'deliveries',
  table: 'webhook_deliveries',
  isOpen: `status = 'received'`,
  isHeld: `status = 'held'`,
  hold: `status = 'held'`,
  release: `status = 'received'`,
  drop: `status = 'ignored', reason = ${droppedReason}, processed_at = now()`,
  since: 'received_at',
});
