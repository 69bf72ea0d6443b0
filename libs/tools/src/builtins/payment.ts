import { type Json, paymentType } from '@parley/contracts';
import { z } from 'zod';
import { failure } from '../failure';
import { type BuiltIn, defineBuiltIn } from './built-in';
import { callKey } from './call-key';
import { checkReadable, denyUnreadable, originOf, withAccess } from './entity';

const create = defineBuiltIn({
  name: 'payment.create',
  description:
    'Creates a payment and its payment link at the payment provider, and returns { paymentId, paymentLinkUrl, flowOrderId }. Send the paymentLinkUrl to the customer. The payment is paid only when payment.getStatus returns "paid", not when the customer says so.',
  sideEffects: true,
  // Up to three attempts to reach Flow, and a query about an order that an earlier crash
  // may have created.
  timeLimitMs: 60_000,
  isAvailable: ({ payments }) => payments !== undefined,
  args: z.strictObject({
    amount: z
      .number()
      .positive()
      .describe('Amount to pay, in units of the currency, such as 12000.'),
    description: z
      .string()
      .min(1)
      .max(250)
      .describe('What the payment is for. The customer sees it.'),
    currency: z
      .string()
      .length(3, 'must be a code of three letters')
      .optional()
      .describe('Currency code of three letters, such as "CLP". Default: the configured one.'),
    customerEmail: z
      .string()
      .min(3)
      .max(254)
      .describe("The customer's e-mail address, which the provider requires."),
    entityId: z
      .string()
      .min(1)
      .max(100)
      .optional()
      .describe('Id of the entity to pay for, such as an order.'),
  }),
  async call(args, call) {
    const { deps, scope, signal } = call;
    const about = args.entityId === undefined ? null : await checkReadable(call, args.entityId);
    if (about?.ok === false) return about;
    const result = await deps.payments!.create(scope, {
      ...args,
      ...originOf(call),
      callKey: callKey(call, args) ?? null,
      signal,
    });
    if (result.ok) {
      const { paymentId, paymentLinkUrl, flowOrderId } = result;
      return { ok: true, result: { paymentId, paymentLinkUrl, flowOrderId } };
    }
    switch (result.reason) {
      case 'entity_not_found':
        return failure('not_found', result.message);
      case 'invalid':
        return failure(
          'invalid_arguments',
          `Invalid arguments for payment.create: ${result.message}`,
        );
      case 'not_configured':
        return failure('execution_error', result.message);
      case 'no_link':
        return failure('execution_error', `No payment link was made: ${result.message}`);
    }
  },
});

const getStatus = defineBuiltIn({
  name: 'payment.getStatus',
  description:
    'Asks the payment provider about a payment and returns { entityId, status, flowStatus, flowStatusMessage, paymentLinkUrl, amount, currency }. status is draft, pending, paid or failed; flowStatus is 1 (pending), 2 (paid), 3 (rejected) or 4 (cancelled), and is absent while there is no payment link.',
  // The query may settle the payment, but only once, even if it runs several times.
  sideEffects: false,
  needs: { action: 'read', entityIdIn: 'entityId' },
  timeLimitMs: 45_000,
  isAvailable: ({ payments }) => payments !== undefined,
  args: z.strictObject({ entityId: z.string().min(1).max(100).describe('Id of the payment.') }),
  async call({ entityId }, call) {
    const { deps, scope, signal } = call;
    if (call.entityType !== paymentType) return failure('not_found', 'Payment not found');
    const denial = await denyUnreadable(call, paymentType, entityId);
    if (denial !== null) return denial;
    const result = await deps.payments!.getStatus(scope, {
      ...originOf(call),
      paymentId: entityId,
      signal,
    });
    if (!result.ok && result.reason === 'not_found')
      return failure('not_found', 'Payment not found');
    if (!result.ok) {
      return failure(
        'execution_error',
        `${result.message}; the payment is recorded as ${result.payment.status}`,
      );
    }
    // Read again through the scope rules and masks of the caller.
    const seen = await deps.entities.get(scope, {
      type: paymentType,
      id: entityId,
      ...(await withAccess(call)),
    });
    if (!seen.ok) return failure('not_found', 'Payment not found');
    const { status, paymentLinkUrl, amount, currency } = seen.entity.value.data;
    const flow = result.flow && {
      flowStatus: result.flow.status,
      flowStatusMessage: result.flow.message,
    };
    const answer = { entityId, status, ...flow, paymentLinkUrl, amount, currency };
    return { ok: true, result: JSON.parse(JSON.stringify(answer)) as Json };
  },
});

export const paymentTools: readonly BuiltIn[] = [create, getStatus];
