import type { Environment } from '@parley/contracts';

export type DeliveryStatus = 'received' | 'processed' | 'ignored' | 'failed' | 'unattributed' | 'rejected';

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
