import { createVisitorSessionBodySchema, visitorQuerySchema, visitorSessionSchema } from '../http/widget';
import { defineOperations, post } from './operation';

const table = { createVisitorSession: post('/v1/widget/sessions', null, { isAudited: false }) };

export const widgetOperations = defineOperations('Widget', table, {
  createVisitorSession: {
    summary: 'Begin the session of a visitor',
    description:
      'Returns a token for 30 minutes, bound to the key, the visitor and the origin. Call it again to renew the token.',
    query: visitorQuerySchema,
    headers: { Origin: 'One of the origins of the key. Browsers send it.' },
    body: createVisitorSessionBodySchema,
    bodyOptional: true,
    status: 201,
    response: visitorSessionSchema,
    errors: {
      401: [
        ['unknown_key', 'Unauthorized'],
        ['invalid_identity', 'Unauthorized'],
      ],
      403: [['origin_not_allowed', 'The key does not allow this origin']],
      429: [['too_many_requests', 'Too many requests of the visitor, the address or the key']],
      503: [['limit_unavailable', 'Visitors are temporarily not served']],
    },
    example: { body: {}, response: { token: 'eyJ…', expiresAt: 1763685000000, visitorId: 'Zk3…' } },
  },
});
