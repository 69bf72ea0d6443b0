import type { ResultOf } from '@parley/client/manage';
import { useQuery } from '@tanstack/react-query';
import { useWorkspace } from '../../frame/workspace';

export type ExecutionTrace = ResultOf<'getExecution'>;
export type Step = ExecutionTrace['steps'][number];

export const nameOfStep = (step: Step): string => (step.type === 'model' ? step.model : step.name);

export const hasEnded = ({ status }: Pick<ExecutionTrace, 'status'>): boolean =>
  status !== 'running' && status !== 'queued' && status !== 'stalled';

/** An execution, which is read again until it ends. */
export function useExecution(executionId: string) {
  const { api, key } = useWorkspace();
  return useQuery({
    queryKey: [...key, 'execution', executionId],
    queryFn: ({ signal }) => api.getExecution({ id: executionId }, { signal }),
    refetchInterval: ({ state }) =>
      state.data === undefined || hasEnded(state.data) ? false : 1_000,
  });
}
