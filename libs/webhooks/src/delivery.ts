import type { Environment } from '@parley/contracts';
import { newId } from '@parley/db';

export type DeliveryStatus =
  'received' | 'processed' | 'ignored' | 'failed' | 'unattributed' | 'rejected' | 'held';

/** A delivery as a webhook endpoint stores it, before it is acknowledged. */
export interface NewDelivery {
  provider: string;
  /** The provider's id, or a digest of the body. Each id is stored once per provider. */
  deliveryId: string;
  path: string;
  eventType: string | null;
  /** The headers that are stored; never a signature. */
  headers: Record<string, string>;
  body: Buffer;
  tenant: number | null;
  environment: Environment | null;
  /** Whether its signature was checked. */
  isSigned: boolean;
  status: DeliveryStatus;
  reason: string | null;
}

/**
 * A callback of the payment provider, which names no organization and has no id:
 * each one is stored.
 */
export const paymentCallback = (token: string): NewDelivery => ({
  provider: 'flow',
  deliveryId: newId('flow'),
  path: '/webhook/flow',
  eventType: 'payment.confirmation',
  headers: {},
  body: Buffer.from(new URLSearchParams({ token }).toString()),
  tenant: null,
  environment: null,
  isSigned: false,
  status: 'received',
  reason: null,
});
