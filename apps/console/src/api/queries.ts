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

export function useRouters() {
  const { api, key } = useWorkspace();
  return useQuery({ queryKey: [...key, 'routers'], queryFn: () => api.listRouters({ limit: 100 }) });
}

export function useRoles() {
  const { api, key } = useWorkspace();
  return useQuery({ queryKey: [...key, 'roles'], queryFn: () => api.listRoles({ limit: 100 }) });
}

/** The people of the organization. */
export function usePeople() {
  const { api, key } = useWorkspace();
  return useQuery({
    queryKey: [...key, 'members'],
    queryFn: () => api.listMembers({ limit: 100 }),
    staleTime: 60_000,
  });
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
