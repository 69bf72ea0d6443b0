import {
  deliveryDetailsSchema,
  deliveryListSchema,
  deliveryParamsSchema,
  deliverySchema,
  listDeliveriesQuerySchema,
  replayDeliveriesBodySchema,
  replayParamsSchema,
  replaySchema,
} from '../../http/manage/webhook-deliveries';
import { type ErrorExample, defineOperations, get, post } from '../operation';

const member = { people: 'member', rateLimited: true } as const;
const table = {
  listWebhookDeliveries: get('/v1/webhook-deliveries', 'manage', { ...member, replica: true }),
  replayWebhookDeliveries: post('/v1/webhook-deliveries/replay', 'manage', member),
  getWebhookDelivery: get('/v1/webhook-deliveries/:id', 'manage', member),
  replayWebhookDelivery: post('/v1/webhook-deliveries/:id/replay', 'manage', member),
  getWebhookReplay: get('/v1/webhook-replays/:id', 'manage', member),
};

const notFound: ErrorExample = ['delivery_not_found', 'Webhook delivery not found'];
const delivery = {
  id: 'delivery_01',
  deliveryId: 'msg_2b',
  provider: 'kapso',
  path: '/webhook/kapso/messages',
  eventType: 'whatsapp.message.received',
  signed: true,
  status: 'failed',
  attempts: 8,
  reason: 'The connection was removed',
  receivedAt: 1763683200000,
  processedAt: null,
};
const replay = { id: 'replay_01', deliveries: 14, waiting: 14, processed: 0, failed: 0 };

export const webhookDeliveryOperations = defineOperations('Operations', table, {
  listWebhookDeliveries: {
    summary: 'List webhook deliveries',
    description:
      'Deliveries of the environment, and those of the whole organization. Deliveries that belong to no organization are left out.',
    query: listDeliveriesQuerySchema,
    response: deliveryListSchema,
    errors: { 400: [['invalid_cursor', 'The cursor is invalid or belongs to another list']] },
    example: { response: { data: [delivery], cursor: 'c1.WyI…', hasMore: false } },
  },
  replayWebhookDeliveries: {
    summary: 'Replay webhook deliveries',
    description:
      'Processes the oldest 10,000 deliveries that match again. Effects of earlier processing are not repeated. The response comes before the work: retrieve the replay for its progress.',
    body: replayDeliveriesBodySchema,
    status: 202,
    response: replaySchema,
    example: { body: { status: 'failed', provider: 'kapso' }, response: replay },
  },
  getWebhookDelivery: {
    summary: 'Retrieve a webhook delivery',
    params: deliveryParamsSchema,
    response: deliveryDetailsSchema,
    errors: { 404: [notFound] },
    example: {
      response: {
        ...delivery,
        headers: { 'content-type': 'application/json' },
        body: { type: 'message' },
      },
    },
  },
  replayWebhookDelivery: {
    summary: 'Replay a webhook delivery',
    description: 'Processes the delivery again. Effects of earlier processing are not repeated.',
    params: deliveryParamsSchema,
    response: deliverySchema,
    errors: {
      404: [notFound],
      409: [['delivery_not_replayable', 'A rejected delivery cannot be replayed']],
    },
    example: { response: { ...delivery, status: 'received', attempts: 0, reason: null } },
  },
  getWebhookReplay: {
    summary: 'Retrieve the progress of a replay',
    params: replayParamsSchema,
    response: replaySchema,
    errors: { 404: [['replay_not_found', 'Replay not found']] },
    example: { response: { ...replay, waiting: 2, processed: 12 } },
  },
});
