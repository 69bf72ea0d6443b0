import type { Json, operations } from '@parley/contracts';
import type { Queryable } from '@parley/db';
import { HttpError } from '@parley/service';
import type { DeliveryHeaders, NewDelivery, Verdict } from '@parley/webhooks';

/** A request as it came over the wire. */
export interface RawDelivery {
  headers: DeliveryHeaders;
  body: Buffer;
}

/** What a delivery says of itself. */
export interface DeliveryEvent {
  /** Unique within the provider, the same in each of its retries. */
  deliveryId: string;
  /** Null when the delivery does not name one. */
  eventType: string | null;
  /** False for what the product has no use for: it is kept, acknowledged and nothing more. */
  isHandled: boolean;
}

export type Reading = { ok: true; event: DeliveryEvent } | { ok: false; reason: string };

/** Whose delivery it is; both null when only its job can tell. */
export type Owner = Pick<NewDelivery, 'tenant' | 'environment'>;

export type Location = { ok: true; owner: Owner } | { ok: false; reason: string };

/** One webhook endpoint: everything in which the providers differ. `receive` is what they have in common. */
export interface Door {
  provider: string;
  /** Where it is and how it answers; the body stays as it came, for its signature. */
  operation: (typeof operations)[
    'clerkWebhook' | 'kapsoProjectWebhook' | 'kapsoMessagesWebhook' | 'polarWebhook' | 'resendWebhook'];
  /** Accepts deliveries that nobody has signed: what has no meaning is not stored. Default: every delivery is signed. */
  isUnsigned?: boolean;
  /** Pure: the headers and the raw bytes under the configured secrets. */
  verify(delivery: RawDelivery, nowMs: number): Verdict;
  /**
   * Called when `verify` refuses; checks the signature with the owner's own secret. What the body says of its owner is a
   * claim until then: a refusal takes the same steps whether or not there is such an owner.
   */
  verifyOwner?(db: Queryable, delivery: RawDelivery, refused: Verdict): Promise<Verdict>;
  /** Pure: what it is about, as far as the acknowledgement depends on it. */
  read(delivery: RawDelivery): Reading;
  /** Absent where the owner is found by the job. */
  locate?(db: Queryable, delivery: RawDelivery): Promise<Location>;
  /** The interface's answers; they never say more than this. */
  refusals: {
    signature: HttpError;
    malformed: HttpError;
    unlocated?: HttpError;
    /** Instead of the 503 of all services when PostgreSQL is away. */
    unavailable?: HttpError;
  };
}

/** An event is named by a text: a number in its place is a body that cannot be understood. */
export const eventNameAt = (value: Json | undefined): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined;

export const processingFailure = () => new HttpError(500, 'processing_failed', 'Webhook could not be processed');
