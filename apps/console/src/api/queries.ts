import { useQuery } from '@tanstack/react-query';
import { useWorkspace } from '../frame/workspace';

/** Open conversations by who answers them. */
export function useThreadCounts() {
  const { api, key } = useWorkspace();
  return useQuery({
    queryKey: [...key, 'thread-counts'],
    queryFn: ({ signal }) => api.countThreads({}, { signal }),
    refetchInterval: 5_000,
  });
}

export function useAgents() {
  const { api, key } = useWorkspace();
  return useQuery({ queryKey: [...key, 'agents'], queryFn: () => api.listAgents({ limit: 100 }) });
}

/** The entity types. */
export function useTypes() {
  const { client, key } = useWorkspace();
  return useQuery({
    queryKey: [...key, 'entity-types'],
    queryFn: ({ signal }) => client.entityTypes({ signal }),
    staleTime: 30_000,
  });
}
