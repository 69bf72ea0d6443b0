import { type UseMutationResult, useMutation, useQueryClient } from '@tanstack/react-query';
import { useRef } from 'react';
import { useWorkspace } from '../frame/workspace';

/**
 * A change, after which the queries of these names are loaded again:
 * `useChange(() => api.retryEmail({ id }), 'emails')`.
 */
export function useChange<Result, Input = void>(
  run: (input: Input) => Promise<Result>,
  ...names: readonly string[]
): UseMutationResult<Result, unknown, Input> {
  const { key } = useWorkspace();
  const cache = useQueryClient();
  return useMutation<Result, unknown, Input>({
    mutationFn: useOnce(run),
    onSettled: () =>
      Promise.all(names.map((name) => cache.invalidateQueries({ queryKey: [...key, name] }))),
  });
}

/**
 * Sends a request once while it runs: a form can be submitted again before its button says
 * that it is busy.
 */
export function useOnce<Result, Input>(
  run: (input: Input) => Promise<Result>,
): (input: Input) => Promise<Result> {
  const running = useRef(new Map<string, Promise<Result>>());
  return (input) => {
    const name = JSON.stringify(input) ?? '';
    const known = running.current.get(name);
    if (known !== undefined) return known;
    const begun = run(input).finally(() => running.current.delete(name));
    running.current.set(name, begun);
    return begun;
  };
}
