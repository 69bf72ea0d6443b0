import type { Json, operations } from '@parley/contracts';
import type { Queryable } from '@parley/db';
import { HttpError } from '@parley/service';
import type { DeliveryHeaders, NewDelivery, Verdict } from '@parley/webhooks';

/** A request as received, its body unparsed. */
export interface RawDelivery {
  headers: DeliveryHeaders;
  body: Buffer;
}

/** What the endpoint reads from a delivery before it is acknowledged. */
export interface DeliveryEvent {
  /** Unique within the provider, and the same in each retry of the delivery. */
  deliveryId: string;
  /** Null when the delivery does not name its event. */
  eventType: string | null;
  /** False for an event without effect here: it is stored and acknowledged, and has no job. */
  isHandled: boolean;
  /**
   * What cannot be understood in a part of the delivery. The rest is processed, and the answer is
   * the one to a malformed body.
   */
  problem?: string;
}

export type Reading = { ok: true; event: DeliveryEvent } | { ok: false; reason: string };

/** The owner of a delivery. Both are null when only the job can find it. */
export type Owner = Pick<NewDelivery, 'tenant' | 'environment'>;

export type Location = { ok: true; owner: Owner } | { ok: false; reason: string };

/**
 * One webhook endpoint: everything in which the providers differ. `receiveDelivery` has
 * what they share.
 */
export interface WebhookEndpoint {
  provider: string;
  operation: (typeof operations)[
    | 'clerkWebhook'
    | 'kapsoProjectWebhook'
    | 'kapsoMessagesWebhook'
    | 'polarWebhook'
    | 'resendWebhook'];
  /**
   * Deliveries are accepted without a signature. Those that are malformed or have no
   * effect are not stored.
   */
  isUnsigned?: boolean;
  /** Checks the signature with the configured secrets. Pure. */
  verify(delivery: RawDelivery, nowMs: number): Verdict;
  /**
   * Called when `verify` refuses: checks the signature with the owner's own secret. Until then the
   * owner that the body names is only a claim, so a refusal takes the same steps, and the same
   * time, whether or not that owner exists.
   */
  verifyOwner?(db: Queryable, delivery: RawDelivery, refused: Verdict): Promise<Verdict>;
  /** Reads what the acknowledgement depends on. Pure. */
  read(delivery: RawDelivery): Reading;
  /** Finds the owner. Absent where the job does. */
  locate?(db: Queryable, delivery: RawDelivery): Promise<Location>;
  /** The errors of the API reference. The reason of a refusal is never part of the reply. */
  refusals: {
    signature: HttpError;
    malformed: HttpError;
    unlocated?: HttpError;
    /** Replaces the 503 of all services when PostgreSQL is unavailable. */
    unavailable?: HttpError;
  };
}

/**
 * The name of an event; undefined for an empty text or another type, which make the body malformed.
 */
export const eventNameAt = (value: Json | undefined): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined;

export const processingFailure = () =>
  new HttpError(500, 'processing_failed', 'Webhook could not be processed');
