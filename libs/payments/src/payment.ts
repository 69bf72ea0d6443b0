import type { Entity, Scope } from '@parley/contracts';
import type { Queryable } from '@parley/db';
import type { Entities } from '@parley/entities';
import { z } from 'zod';

/** Slug of the entity type (interface.md, Payment entity). */
export const paymentType = 'payment';

/** States of a payment: draft → pending → paid | failed. */
export type PaymentStatus = 'draft' | 'pending' | 'paid' | 'failed';

export interface Payment {
  id: string;
  amount: number;
  currency: string;
  status: PaymentStatus;
  /** Flow's number of the order, once there is a link. */
  providerReference?: string;
  paymentLinkUrl?: string;
  flowToken?: string;
  /** Unix milliseconds. */
  paidAt?: number;
  failureReason?: string;
  createdAt: number;
}

// A person may have written any of it through the Data API: what cannot be used counts as absent.
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

export const toPayment = ({ id, data, createdAt }: Entity): Payment => ({ id, createdAt, ...dataSchema.parse(data) });

/** The payment with this id; null when there is none, or when it was deleted. */
export async function findPayment(
  entities: Entities,
  scope: Scope,
  id: string,
  tx?: Queryable,
): Promise<Payment | null> {
  const found = await entities.get(scope, { type: paymentType, id }, tx);
  return found.ok ? toPayment(found.entity.value) : null;
}
