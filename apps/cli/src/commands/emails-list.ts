import { type ListOptions, printList } from '../manage';
import { previewOf } from '../safe-text';
import { formatTime } from '../terminal';

/**
 * `parley emails list`: prints e-mails that tools sent, with the status that the provider reported.
 */
export const runEmailsList = ({
  status,
  ...options
}: ListOptions & { status?: string }): Promise<void> =>
  printList(options, {
    items: 'e-mails',
    read: (manage) => (page) => manage.listEmails({ ...page, status }),
    columns: {
      EMAIL: ({ id }) => id,
      TO: ({ to }) => previewOf(to.join(', '), 40),
      SUBJECT: ({ subject }) => previewOf(subject, 40),
      STATUS: (email) => email.status,
      ATTEMPTS: ({ attempts }) => String(attempts),
      CREATED: ({ createdAt }) => formatTime(createdAt),
      REASON: ({ error }) => previewOf(error ?? '', 80),
    },
  });
