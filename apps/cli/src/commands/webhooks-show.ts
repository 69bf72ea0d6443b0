import { findDelivery, maskBody } from '@parley/webhooks';
import { withDatabase } from '../database';
import { Failure } from '../failure';
import { type KeyOptions, withManage } from '../manage';
import { formatFields, formatTime, indentText, print, printJson } from '../terminal';

/** `parley webhooks show`: prints a delivery with its headers and body. */
export async function runWebhooksShow(
  id: string,
  { json, unattributed, ...options }: KeyOptions & { unattributed?: true },
): Promise<void> {
  const delivery = unattributed
    ? await findUnattributed(id)
    : await withManage(options, (manage) => manage.getWebhookDelivery({ id }));
  if (json) return printJson(delivery);
  const { body } = delivery;
  print(
    formatFields({
      delivery: delivery.id,
      'provider id': delivery.deliveryId,
      path: delivery.path,
      event: delivery.eventType ?? '-',
      signed: delivery.signed ? 'yes' : 'no',
      status: delivery.status,
      reason: delivery.reason ?? undefined,
      attempts: String(delivery.attempts),
      received: formatTime(delivery.receivedAt),
      processed: delivery.processedAt === null ? undefined : formatTime(delivery.processedAt),
    }),
  );
  for (const [name, value] of Object.entries(delivery.headers))
    print(indentText(`${name}: ${value}`));
  print(indentText(typeof body === 'string' ? body : JSON.stringify(body, null, 2)));
}

async function findUnattributed(id: string) {
  const found = await withDatabase((db) => findDelivery(db, id));
  if (found === null) throw new Failure(`No delivery "${id}" without an organization`);
  return { ...found, body: maskBody(found.body) };
}
