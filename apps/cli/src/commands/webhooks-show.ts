import { findDelivery, maskBody } from '@parley/webhooks';
import { withDatabase } from '../database';
import { Failure } from '../failure';
import { formatFields, formatTime, indentText, print, printJson } from '../terminal';

/** `parley webhooks show`: prints a delivery with its headers and body. */
export async function runWebhooksShow(id: string, { json }: { json?: boolean }): Promise<void> {
  const delivery = await withDatabase((db) => findDelivery(db, id));
  if (delivery === null) throw new Failure(`No delivery "${id}"`);
  const body = maskBody(delivery.body);
  if (json) return printJson({ ...delivery, body });
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
      organization: delivery.organization ?? undefined,
      environment: delivery.environment ?? undefined,
      received: formatTime(delivery.receivedAt),
      processed: delivery.processedAt === null ? undefined : formatTime(delivery.processedAt),
    }),
  );
  for (const [name, value] of Object.entries(delivery.headers)) print(indentText(`${name}: ${value}`));
  print(indentText(typeof body === 'string' ? body : JSON.stringify(body, null, 2)));
}
