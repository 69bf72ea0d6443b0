import { type ListOptions, printList } from '../manage';
import { previewOf } from '../safe-text';
import { formatTime } from '../terminal';

export interface ThreadsListOptions extends ListOptions {
  agent?: string;
  state?: 'agent' | 'human' | 'waiting';
  status?: 'open' | 'closed';
  search?: string;
}

/** `parley threads list`: prints the threads of an environment, latest message first. */
export const runThreadsList = ({
  agent,
  state,
  status,
  search,
  ...options
}: ThreadsListOptions): Promise<void> =>
  printList(options, {
    items: 'threads',
    read: (manage) => (page) => manage.listThreads({ ...page, agent, state, status, q: search }),
    columns: {
      THREAD: ({ id }) => id,
      'EXTERNAL ID': ({ externalId }) => previewOf(externalId ?? '-', 40),
      CONTACT: ({ contactName }) => previewOf(contactName ?? '-', 20),
      AGENT: ({ agentSlug }) => agentSlug ?? '-',
      CHANNEL: ({ channel }) => channel,
      STATE: (thread) => thread.state,
      TURNS: ({ turnCount }) => String(turnCount),
      'LAST MESSAGE': ({ lastMessageAt }) => formatTime(lastMessageAt),
      '': ({ lastInput }) => previewOf(lastInput ?? '', 40),
    },
  });
