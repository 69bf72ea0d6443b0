import type { Environment } from '@parley/contracts';

export type DeliveryStatus = 'received' | 'processed' | 'ignored' | 'failed' | 'unattributed' | 'rejected';

/** What a door has read of a delivery, to be stored before it is acknowledged. */
export interface NewDelivery {
  provider: string;
  /** The provider's id of the delivery, or one made of its bytes: the same one is stored once. */
  deliveryId: string;
  path: string;
  eventType: string | null;
  /** What is worth keeping of them; never a signature. */
  headers: Record<string, string>;
  body: Buffer;
  tenant: number | null;
  environment: Environment | null;
  /** Whether its signature was checked. */
  isSigned: boolean;
  status: DeliveryStatus;
  reason: string | null;
}
