import { iterate } from '@parley/client/manage';
import { objectAt, textAt } from '@parley/contracts';
import { type KeyOptions, printList } from '../manage';
import { formatTime } from '../terminal';

/**
 * `parley triggers list`: prints the triggers of an environment with their runs of the
 * last day by status.
 */
export const runTriggersList = (options: KeyOptions): Promise<void> => {
  const countOf = (status: string) => (trigger: { runs: Record<string, number> }) =>
    String(trigger.runs[status] ?? 0);
  return printList(options, {
    items: 'triggers',
    read: (manage) => async () => ({
      data: await readAll(iterate(manage.listTriggers)),
      cursor: '',
      hasMore: false,
    }),
    columns: {
      TRIGGER: ({ slug }) => slug,
      ON: ({ on }) =>
        textAt(on.schedule) ??
        `${on.entityType} ${on.action}${conditionOf(Object.keys(objectAt(on.condition)))}`,
      NEXT: ({ nextTickAt }) => (nextTickAt === null ? '-' : formatTime(nextTickAt)),
      SCHEDULED: countOf('scheduled'),
      RUNNING: countOf('running'),
      SUCCEEDED: countOf('succeeded'),
      DEAD: countOf('dead'),
      '': ({ enabled }) => (enabled ? '' : 'disabled'),
    },
  });
};

async function readAll<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}

const conditionOf = (fields: string[]): string =>
  fields.length === 0 ? '' : ` if ${fields.join(', ')}`;
