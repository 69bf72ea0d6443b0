import { z } from 'zod';
import { idParams, listOf, pageQuery, time, timeInBody, timeInQuery, timeOrNull } from './list';

export const deliveryParamsSchema = idParams;
export const replayParamsSchema = idParams;

const statuses = [
  'received',
  'processed',
  'ignored',
  'failed',
  'unattributed',
  'rejected',
  'held',
] as const;
const status = z.enum(statuses);
const provider = z.string().min(1).max(40);

const deliveryFields = {
  id: z.string().describe('Id of the delivery.'),
  deliveryId: z.string().describe("The provider's id, or one derived from its bytes."),
  provider: z.string().describe('Name of the provider.'),
  path: z.string().describe('The path that it was sent to.'),
  eventType: z.string().nullable().describe("The provider's type of the event."),
  signed: z.boolean().describe('Whether its signature was checked.'),
  status: status.describe(
    '`received`: it waits for processing. `rejected`: refused, and not replayed.',
  ),
  attempts: z
    .number()
    .int()
    .describe('Attempts to process it since it was received or last replayed.'),
  reason: z.string().nullable().describe('Why it failed or was ignored.'),
  receivedAt: time('When it was received.'),
  processedAt: timeOrNull('When it was processed.'),
};

export const deliverySchema = z.object(deliveryFields);
export const deliveryListSchema = listOf(deliverySchema);
export const deliveryDetailsSchema = z.object({
  ...deliveryFields,
  headers: z.record(z.string(), z.string()).describe('The stored headers; never a signature.'),
  body: z
    .unknown()
    .describe('The body with secrets masked: JSON, or the text of a body that is not JSON.'),
});

const filter = {
  provider: provider.optional().describe('Only deliveries of this provider.'),
  status: status.optional().describe('Only deliveries with this status.'),
};

export const listDeliveriesQuerySchema = z.object({
  ...pageQuery,
  ...filter,
  since: timeInQuery('Only deliveries received from this time on.'),
});

export const replayDeliveriesBodySchema = z.strictObject({
  provider: filter.provider,
  status: z.enum(['processed', 'ignored', 'failed']).describe('Only deliveries with this status.'),
  since: timeInBody('Only those received from this time on.').optional(),
  until: timeInBody('Only those received before this time.').optional(),
});

export const replaySchema = z.object({
  id: z.string().describe('Id of the replay.'),
  deliveries: z
    .number()
    .int()
    .describe('Number of its deliveries. A delivery belongs to its last replay.'),
  waiting: z.number().int().describe('Deliveries that have not been processed yet.'),
  processed: z.number().int().describe('Deliveries that were processed or ignored.'),
  failed: z.number().int().describe('Deliveries that failed again.'),
});
