import { type DeliverySummary, listDeliveries } from '@parley/webhooks';
import { withDatabase } from '../database';
import { type PageOptions, parsePage } from '../page';
import { previewOf } from '../safe-text';
import { formatTable, formatTime, note, print, printJson } from '../terminal';

export interface WebhooksListOptions extends PageOptions {
  status?: string;
  provider?: string;
  org?: string;
  json?: boolean;
}

/** `parley webhooks list`: prints the deliveries in the inbox, with the reason of failures. */
export async function runWebhooksList({ json, org, ...options }: WebhooksListOptions): Promise<void> {
  const page = parsePage(options, /^[\w-]+$/);
  const { items, next } = await withDatabase((db) =>
    listDeliveries(db, { ...page, status: options.status, provider: options.provider, organization: org }),
  );
  if (json) return printJson({ deliveries: items, next });
  if (items.length === 0) return note(`No${page.before ? ' more' : ''} deliveries`);
  print(formatTable(header, items.map(toRow)));
  if (next !== null) note(`Next page: --before ${next}`);
}

const header = ['DELIVERY', 'ORGANIZATION', 'PROVIDER', 'EVENT', 'STATUS', 'ATTEMPTS', 'RECEIVED', 'REASON'];

const toRow = (delivery: DeliverySummary): string[] => [
  delivery.id,
  delivery.organization ?? '-',
  delivery.provider,
  previewOf(delivery.eventType ?? '-', 40),
  delivery.status,
  String(delivery.attempts),
  formatTime(delivery.receivedAt),
  previewOf(delivery.reason ?? '', 80),
];
