import { type ListOptions, printList } from '../manage';
import { previewOf } from '../safe-text';
import type { RunStatus } from '../statuses';
import { formatTime } from '../terminal';
import { tookOf } from '../triggers/took-of';

export interface TriggersRunsOptions extends ListOptions {
  status?: RunStatus;
  entity?: string;
}

/** `parley triggers runs [trigger]`: prints runs, newest first. */
export const runTriggersRuns = (
  trigger: string | undefined,
  { status, entity, ...options }: TriggersRunsOptions,
): Promise<void> =>
  printList(options, {
    items: 'matching runs',
    read: (manage) => (page) =>
      manage.listTriggerRuns({ ...page, trigger, status, entityId: entity }),
    columns: {
      RUN: ({ id }) => id,
      CREATED: ({ createdAt }) => formatTime(createdAt),
      TRIGGER: ({ triggerSlug }) => triggerSlug,
      CAUSE: ({ cause }) => cause.replace(/-.*$/, ''),
      ENTITY: ({ entityId }) => entityId ?? '-',
      STATUS: (run) => run.status,
      ATTEMPTS: ({ attempts, maxAttempts }) => `${attempts} of ${maxAttempts}`,
      TOOK: (run) => tookOf(run) ?? '-',
      '': (run) =>
        run.status === 'scheduled' && run.error === null
          ? `due ${formatTime(run.runAt)}`
          : previewOf(run.error ?? '', 60),
    },
  });
