import { type UseMutationResult, useMutation, useQueryClient } from '@tanstack/react-query';
import { useWorkspace } from '../frame/workspace';

/** A change, after which the queries of these names are loaded again: `useChange(() => api.retryEmail({ id }), 'emails')`. */
export function useChange<Result, Input = void>(
  run: (input: Input) => Promise<Result>,
  ...names: readonly string[]
): UseMutationResult<Result, unknown, Input> {
  const { key } = useWorkspace();
  const cache = useQueryClient();
  return useMutation<Result, unknown, Input>({
    mutationFn: run,
    onSettled: () => Promise.all(names.map((name) => cache.invalidateQueries({ queryKey: [...key, name] }))),
  });
}
