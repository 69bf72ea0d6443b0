import { listDeliveries } from '@parley/webhooks';
import { withDatabase } from '../database';
import { type ListOptions, printItems, printList } from '../manage';
import { parsePage } from '../page';
import { previewOf } from '../safe-text';
import { formatTime, printJson } from '../terminal';
import type { deliveryStatuses } from '../webhooks/providers';

export interface WebhooksListOptions extends ListOptions {
  status?: (typeof deliveryStatuses)[number];
  provider?: string;
  unattributed?: true;
}

/** What the table shows of a delivery of the API and of one in the database. */
interface Delivery {
  id: string;
  provider: string;
  eventType: string | null;
  status: string;
  attempts: number;
  receivedAt: number | Date;
  reason: string | null;
}

const items = 'deliveries';
const columns = {
  DELIVERY: ({ id }: Delivery) => id,
  PROVIDER: ({ provider }: Delivery) => provider,
  EVENT: ({ eventType }: Delivery) => previewOf(eventType ?? '-', 40),
  STATUS: ({ status }: Delivery) => status,
  ATTEMPTS: ({ attempts }: Delivery) => String(attempts),
  RECEIVED: ({ receivedAt }: Delivery) => formatTime(receivedAt),
  REASON: ({ reason }: Delivery) => previewOf(reason ?? '', 80),
};

/** `parley webhooks list`: prints the deliveries in the inbox, with the reason of failures. */
export async function runWebhooksList({
  unattributed,
  status,
  provider,
  ...options
}: WebhooksListOptions) {
  if (!unattributed)
    return printList(options, {
      items,
      read: (manage) => (page) => manage.listWebhookDeliveries({ ...page, status, provider }),
      columns,
    });
  const page = parsePage(options, /^[\w-]+$/);
  const found = await withDatabase((db) => listDeliveries(db, { ...page, status, provider }));
  const list = { data: found.items, cursor: found.next ?? '', hasMore: found.next !== null };
  if (options.json) return printJson(list);
  printItems(list, columns, `No${page.before ? ' more' : ''} ${items} without an organization`);
}
