import { type ListOptions, printList } from '../manage';
import { previewOf } from '../safe-text';
import { formatTime } from '../terminal';

interface MessagesListOptions extends ListOptions {
  status?: string;
  direction?: 'inbound' | 'outbound';
  contact?: string;
}

/**
 * `parley messages list`: prints messages of channels with their status and the reason of failures.
 */
export const runMessagesList = ({
  status,
  direction,
  contact,
  ...options
}: MessagesListOptions): Promise<void> =>
  printList(options, {
    items: 'messages',
    read: (manage) => (page) => manage.listChannelMessages({ ...page, status, direction, contact }),
    columns: {
      MESSAGE: ({ id }) => id,
      '': (message) => (message.direction === 'inbound' ? 'in' : 'out'),
      CONTACT: (message) => message.contact,
      TYPE: ({ type }) => type,
      STATUS: (message) => message.status,
      ATTEMPTS: ({ attempts }) => String(attempts),
      CREATED: ({ createdAt }) => formatTime(createdAt),
      TEXT: ({ text }) => previewOf(text ?? '', 40),
      REASON: ({ error }) => previewOf(error ?? '', 80),
    },
  });
