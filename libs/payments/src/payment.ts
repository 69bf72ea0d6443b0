import { type Entity, type Scope, paymentType } from '@parley/contracts';
import type { Queryable } from '@parley/db';
import type { Entities } from '@parley/entities';
import { z } from 'zod';

/** States of a payment: draft → pending → paid | failed. */
export type PaymentStatus = 'draft' | 'pending' | 'paid' | 'failed';

export interface Payment {
  id: string;
  amount: number;
  currency: string;
  status: PaymentStatus;
  /** Flow's order number, once there is a link. */
  providerReference?: string;
  paymentLinkUrl?: string;
  flowToken?: string;
  /** Unix milliseconds. */
  paidAt?: number;
  failureReason?: string;
  createdAt: number;
}

// Users can write any value through the Data API. A field with an invalid value counts as absent.
const text = z.string().min(1).optional().catch(undefined);
const dataSchema = z.object({
  amount: z.number().catch(Number.NaN),
  currency: z.string().toUpperCase().catch(''),
  status: z.enum(['draft', 'pending', 'paid', 'failed']).catch('draft'),
  providerReference: text,
  paymentLinkUrl: text,
  flowToken: text,
  paidAt: z.number().optional().catch(undefined),
  failureReason: text,
});

export const toPayment = ({ id, data, createdAt }: Entity): Payment => ({
  id,
  createdAt,
  ...dataSchema.parse(data),
});

/** Finds a payment; null when there is none or it was deleted. */
export async function findPayment(
  entities: Entities,
  scope: Scope,
  id: string,
  tx?: Queryable,
): Promise<Payment | null> {
  const found = await entities.get(scope, { type: paymentType, id }, tx);
  return found.ok ? toPayment(found.entity.value) : null;
}
