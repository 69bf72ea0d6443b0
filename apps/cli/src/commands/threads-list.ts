import { type ListOptions, printList } from '../manage';
import { previewOf } from '../safe-text';
import { formatTime } from '../terminal';

export interface ThreadsListOptions extends ListOptions {
  agent?: string;
  state?: 'agent' | 'human';
}

/** `parley threads list`: prints the threads of an environment, latest message first. */
export const runThreadsList = ({ agent, state, ...options }: ThreadsListOptions): Promise<void> =>
  printList(options, {
    items: 'threads',
    read: (manage) => (page) => manage.listThreads({ ...page, agent, state }),
    columns: {
      THREAD: ({ id }) => id,
      'EXTERNAL ID': ({ externalId }) => previewOf(externalId ?? '-', 40),
      AGENT: ({ agentSlug }) => agentSlug ?? '-',
      CHANNEL: ({ channel }) => channel,
      STATE: (thread) => thread.state,
      TURNS: ({ turnCount }) => String(turnCount),
      'LAST MESSAGE': ({ lastMessageAt }) => formatTime(lastMessageAt),
      '': ({ lastInput }) => previewOf(lastInput ?? '', 40),
    },
  });
