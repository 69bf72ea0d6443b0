import type { Entity } from '@parley/contracts';
import { listPayments } from '@parley/payments';
import { usageFailure } from '../failure';
import { type PageOptions, parseLimit, positionProblem } from '../page';
import { previewOf } from '../safe-text';
import { type ScopeOptions, withScope } from '../scope';
import { formatTable, formatTime, note, print, printJson } from '../terminal';

/** `parley payments list`: prints the payments of an environment, newest first. */
export async function runPaymentsList({
  status,
  before,
  json,
  ...options
}: ScopeOptions & PageOptions & { status?: string }): Promise<void> {
  const limit = Math.min(parseLimit(options.limit, 20), 100);
  const { name, payments, next } = await withScope(options, async (db, scope) => {
    const page = await listPayments(db, scope, { status, limit, cursor: before });
    if (page === null) throw usageFailure(positionProblem(before));
    return { name: scope.name, ...page };
  });
  if (json) return printJson({ payments, next });
  if (payments.length === 0) return note(`No${before ? ' more' : ''} matching payments in ${name}`);
  print(formatTable(['PAYMENT', 'CREATED', 'STATUS', 'AMOUNT', 'ORDER', 'CUSTOMER', ''], payments.map(toRow)));
  if (next !== null) note(`Next page: --before ${next}`);
}

const toRow = ({ id, createdAt, data }: Entity): string[] => [
  id,
  formatTime(new Date(createdAt)),
  String(data.status ?? '-'),
  `${data.amount ?? '-'} ${data.currency ?? ''}`.trim(),
  String(data.providerReference ?? '-'),
  previewOf(String(data.customerEmail ?? '-'), 30),
  previewOf(String(data.failureReason ?? data.description ?? ''), 60),
];
