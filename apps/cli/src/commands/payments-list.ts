import { type ListOptions, printList } from '../manage';
import { previewOf } from '../safe-text';
import { formatTime } from '../terminal';

type Status = 'draft' | 'pending' | 'paid' | 'failed';

/** `parley payments list`: prints the payments of an environment, newest first. */
export const runPaymentsList = ({
  status,
  ...options
}: ListOptions & { status?: Status }): Promise<void> =>
  printList(options, {
    items: 'matching payments',
    read: (manage) => (page) => manage.listPayments({ ...page, status }),
    columns: {
      PAYMENT: ({ id }) => id,
      CREATED: ({ createdAt }) => formatTime(createdAt),
      STATUS: ({ data }) => String(data.status ?? '-'),
      AMOUNT: ({ data }) => `${data.amount ?? '-'} ${data.currency ?? ''}`.trim(),
      ORDER: ({ data }) => String(data.providerReference ?? '-'),
      CUSTOMER: ({ data }) => previewOf(String(data.customerEmail ?? '-'), 30),
      '': ({ data }) => previewOf(String(data.failureReason ?? data.description ?? ''), 60),
    },
  });
