import { tookOf } from '../conversations/format-execution';
import { type ListOptions, printList } from '../manage';
import { previewOf } from '../safe-text';
import type { ExecutionStatus } from '../statuses';
import { formatTime } from '../terminal';

export interface ExecutionsListOptions extends ListOptions {
  thread?: string;
  agent?: string;
  status?: ExecutionStatus;
  toolErrors?: true;
}

/**
 * `parley executions list`: prints the executions of an environment or of one thread, newest first.
 */
export const runExecutionsList = ({
  thread,
  agent,
  status,
  toolErrors,
  ...options
}: ExecutionsListOptions) =>
  printList(options, {
    items: 'matching executions',
    read: (manage) => async (page) => {
      const id = thread === undefined ? undefined : (await manage.getThread({ id: thread })).id;
      return manage.listExecutions({ ...page, thread: id, agent, status, toolErrors });
    },
    columns: {
      EXECUTION: ({ id }) => id,
      CREATED: ({ createdAt }) => formatTime(createdAt),
      THREAD: ({ threadId }) => threadId,
      AGENT: ({ agentSlug }) => agentSlug ?? '-',
      STATUS: (execution) => execution.status,
      MODEL: ({ model }) => model ?? '-',
      CALLS: ({ modelCallCount }) => String(modelCallCount),
      'TOOL ERRORS': ({ toolCallCount, toolErrorCount }) =>
        toolCallCount === 0 ? '-' : `${toolErrorCount} of ${toolCallCount}`,
      TOKENS: ({ inputTokens, outputTokens }) => `${inputTokens} + ${outputTokens}`,
      TOOK: (execution) => tookOf(execution) ?? '-',
      '': ({ error, input }) => previewOf(error ?? input, 60),
    },
  });
