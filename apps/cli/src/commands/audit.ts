import { type ListOptions, printList } from '../manage';
import { previewOf } from '../safe-text';
import { formatTime } from '../terminal';

/** `parley audit`: prints who changed what, newest first. */
export const runAudit = ({
  action,
  actor,
  target,
  ...options
}: ListOptions & { action?: string; actor?: string; target?: string }): Promise<void> =>
  printList(options, {
    items: 'entries',
    read: (manage) => (page) =>
      manage.listAuditLog({ ...page, action, actorId: actor, targetId: target }),
    columns: {
      WHEN: ({ createdAt }) => formatTime(createdAt),
      ACTION: (entry) => entry.action,
      WHO: (entry) =>
        [entry.actor.type, entry.actor.name ?? entry.actor.id].filter(Boolean).join(' '),
      FROM: ({ address }) => address ?? '-',
      TARGET: (entry) => (entry.target === null ? '-' : `${entry.target.type} ${entry.target.id}`),
      BEFORE: ({ before }) => shortOf(before),
      AFTER: ({ after }) => shortOf(after),
    },
  });

const shortOf = (fields: object | null): string =>
  fields === null ? '-' : previewOf(JSON.stringify(fields), 60);
