import type { Db } from '@parley/db';
import { type Handler, conflict, notFound } from '@parley/service';
import {
  findOwnDelivery,
  listOwnDeliveries,
  maskBody,
  readReplay,
  replayMatching,
  replayOwnDelivery,
} from '@parley/webhooks';
import { type AuditDeps, auditOf } from '../audit';
import { dateOf, msOf, msOrNull, pageOf } from '../page';

interface Handlers {
  listWebhookDeliveries: Handler<'listWebhookDeliveries'>;
  getWebhookDelivery: Handler<'getWebhookDelivery'>;
  replayWebhookDelivery: Handler<'replayWebhookDelivery'>;
  replayWebhookDeliveries: Handler<'replayWebhookDeliveries'>;
  getWebhookReplay: Handler<'getWebhookReplay'>;
}

const maxReplayed = 10_000;
const deliveryNotFound = () => notFound('Webhook delivery not found', 'delivery_not_found');

const timesOf = <D extends { receivedAt: Date; processedAt: Date | null }>(delivery: D) => ({
  ...delivery,
  receivedAt: msOf(delivery.receivedAt),
  processedAt: msOrNull(delivery.processedAt),
});

export const createWebhookDeliveryHandlers = ({
  db,
  ...deps
}: { db: Db } & AuditDeps): Handlers => ({
  async listWebhookDeliveries({ query }, { scope }) {
    const { page, answer } = pageOf('webhook-deliveries', scope, query);
    const { status, provider } = query;
    const filter = { status, provider, since: dateOf(query.since) };
    return answer(await listOwnDeliveries(db, scope, { ...page, ...filter }), timesOf);
  },

  async getWebhookDelivery({ params: { id } }, { scope }) {
    const delivery = await findOwnDelivery(db, scope, id);
    if (delivery === null) throw deliveryNotFound();
    return { ...timesOf(delivery), body: maskBody(delivery.body) };
  },

  replayWebhookDelivery: ({ params: { id } }, context) =>
    db.transaction(async (tx) => {
      const before = await findOwnDelivery(tx, context.scope, id);
      if (before === null) throw deliveryNotFound();
      const replayed = await replayOwnDelivery(tx, context.scope, id);
      if (replayed === null)
        throw conflict(`A ${before.status} delivery cannot be replayed`, 'delivery_not_replayable');
      await auditOf(deps, context)(tx, {
        action: 'webhook_delivery.replayed',
        target: { type: 'webhook_delivery', id },
        before: { status: before.status },
      });
      return timesOf(replayed);
    }),

  replayWebhookDeliveries: ({ body }, context) =>
    db.transaction(async (tx) => {
      const { status, provider, since, until } = body;
      const filter = {
        status,
        provider,
        since: dateOf(since),
        until: dateOf(until),
        limit: maxReplayed,
      };
      const { id, deliveries } = await replayMatching(tx, context.scope, filter);
      await auditOf(deps, context)(tx, {
        action: 'webhook_deliveries.replayed',
        target: { type: 'webhook_replay', id },
        after: { filter: JSON.parse(JSON.stringify(body)), deliveries },
      });
      return { id, deliveries, waiting: deliveries, processed: 0, failed: 0 };
    }),

  async getWebhookReplay({ params: { id } }, { scope }) {
    const replay = await readReplay(db, scope, id);
    if (replay === null) throw notFound('Replay not found', 'replay_not_found');
    return replay;
  },
});
