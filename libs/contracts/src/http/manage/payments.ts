import { z } from 'zod';
import { entitySchema } from '../data';
import { idParams, listOf, pageQuery, time } from './list';

export const paymentParamsSchema = idParams;
export const paymentListSchema = listOf(entitySchema);

export const listPaymentsQuerySchema = z.object({
  ...pageQuery,
  status: z
    .enum(['draft', 'pending', 'paid', 'failed'])
    .optional()
    .describe('Only payments with this status.'),
});

export const paymentDetailsSchema = z.object({
  payment: entitySchema.describe('The payment entity.'),
  attempts: z
    .number()
    .int()
    .nullable()
    .describe('Orders requested from the provider. Null for an imported payment.'),
  paidFor: z.array(z.string()).describe('Ids of the entities that are paid for.'),
  events: z
    .array(
      z.object({
        type: z.string().describe('Type of the event, such as `payment.paid`.'),
        at: time('When it happened.'),
        actor: z
          .object({ type: z.string().describe('Type of the actor.') })
          .describe('Who caused it.'),
        problem: z.string().nullable().describe('What differs, for a mismatch.'),
      }),
    )
    .describe('What happened, oldest first.'),
});

export const reconciledPaymentSchema = z.object({
  payment: entitySchema.describe('The payment after the answer of the provider was applied.'),
  provider: z
    .object({
      status: z.number().int().describe("The provider's status."),
      message: z.string().describe('Its meaning.'),
    })
    .nullable()
    .describe('Null while the provider has no order of the payment.'),
});

export const reconcilePaymentsBodySchema = z.strictObject({
  olderThanMinutes: z
    .number()
    .int()
    .min(0)
    .max(525_600)
    .default(60)
    .describe('Minimum age of the pending payments, in minutes.'),
});

const count = (description: string) => z.number().int().describe(description);
export const reconciledPaymentsSchema = z.object({
  asked: count('Payments whose status was requested.'),
  paid: count('Payments that are now `paid`.'),
  failed: count('Payments that are now `failed`.'),
  unchanged: count('Payments that are as they were.'),
  mismatched: count('Payments whose order differs. They stay `pending`.'),
  errors: count('Payments whose status could not be read.'),
  isComplete: z
    .boolean()
    .describe('False: there may be more. The next request, or the worker, continues after them.'),
  problems: z.array(z.string()).describe('Why the run ended early.'),
});

export const creditsSchema = z.object({
  balanceCents: z.number().int().describe('The sum of all entries, in cents.'),
});
export const creditEntriesSchema = listOf(
  z.object({
    id: z.string().describe('Id of the entry.'),
    amountCents: z.number().int().describe('Cents; negative for a refund.'),
    reason: z.string().describe('Why, for people.'),
    cause: z.string().describe('The order that caused it. Each cause has one entry.'),
    createdAt: time('When it was added.'),
  }),
);
export const listCreditEntriesQuerySchema = z.object(pageQuery);
