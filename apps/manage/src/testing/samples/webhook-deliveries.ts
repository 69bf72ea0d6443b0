import { createInbox, replayMatching } from '@parley/webhooks';
import { newId } from '@parley/db';
import type { World } from '../create-test-api';
import type { Prepare } from './sample';

/** Stores a delivery of the world that failed, and returns its id. */
export async function failedDelivery(
  { db, scope }: World,
  status: 'failed' | 'rejected' = 'failed',
): Promise<string> {
  const { id } = await createInbox(db).store({
    provider: 'kapso',
    deliveryId: newId('msg'),
    path: '/webhook/kapso/messages',
    eventType: 'whatsapp.message.received',
    headers: { 'content-type': 'application/json' },
    body: Buffer.from('{"secret":"s3cr3t","text":"hola"}'),
    tenant: scope.tenant,
    environment: scope.environment,
    isSigned: true,
    status: 'received',
    reason: null,
  });
  await db.pool.query(
    `update webhook_deliveries set status = $2::"DeliveryStatus", reason = 'broken' where id = $1`,
    [id, status],
  );
  return id;
}

const delivery: Prepare = async (world) => ({ params: { id: await failedDelivery(world) } });

export const webhookDeliverySamples = {
  async listWebhookDeliveries(world) {
    await failedDelivery(world);
    return { query: { status: 'failed', provider: 'kapso' } };
  },
  getWebhookDelivery: delivery,
  replayWebhookDelivery: delivery,
  async replayWebhookDeliveries(world) {
    await failedDelivery(world);
    return { body: { status: 'failed', provider: 'kapso' } };
  },
  async getWebhookReplay(world) {
    await failedDelivery(world);
    const { id } = await replayMatching(world.db, world.scope, { status: 'failed', limit: 10 });
    return { params: { id } };
  },
} satisfies Record<string, Prepare>;
