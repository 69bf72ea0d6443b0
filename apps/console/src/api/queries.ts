import type { JsonObject } from '@parley/client';
import { type Page, iterate } from '@parley/client/manage';
import { useQuery } from '@tanstack/react-query';
import { useWorkspace } from '../frame/workspace';
import { useTexts } from '../i18n';
import { usePages } from '../parts/pages';

/** Open conversations by who answers them. */
export function useThreadCounts() {
  const { api, key } = useWorkspace();
  return useQuery({
    queryKey: [...key, 'thread-counts'],
    queryFn: ({ signal }) => api.countThreads({}, { signal }),
    refetchInterval: 5_000,
  });
}

/**
 * A list as one page: an environment has at most some thousands of definitions, and screens search
 * and refer to all of them.
 */
function useAll<Item>(
  name: string,
  list: (
    input: { limit?: number; cursor?: string },
    options?: { signal?: AbortSignal },
  ) => Promise<Page<Item>>,
  staleTime?: number,
) {
  const { key } = useWorkspace();
  const load = async (_: undefined | string, signal: AbortSignal) => {
    const data: Item[] = [];
    for await (const item of iterate(list, { limit: 100 }, { signal })) data.push(item);
    return { data, cursor: '', hasMore: false };
  };
  return usePages<Item>([...key, name, 'all'], load, { staleTime });
}

export const useAgents = () => useAll('agents', useWorkspace().api.listAgents);
export const useRouters = () => useAll('routers', useWorkspace().api.listRouters);
export const useRoles = () => useAll('roles', useWorkspace().api.listRoles);
export const useTools = () => useAll('tools', useWorkspace().api.listTools);

/**
 * The people of the organization, each with a name. An address that is not confirmed has a mark.
 */
export function usePeople(): { id: string; name: string }[] {
  const { confirm } = useTexts();
  const { items } = useAll('members', useWorkspace().api.listMembers, 60_000);
  return items.map(({ id, name, email, isEmailProved }) => {
    const address = email === null || isEmailProved ? email : `${email} (${confirm.mark})`;
    return { id, name: name ?? address ?? id };
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

export interface Pushed {
  entityTypes?: { slug: string; schema: JsonObject }[];
  tools?: { name: string; handlerCode: string }[];
  triggers?: JsonObject[];
}

/** A part of the definitions as they were pushed: they have what the lists of the API leave out. */
export function useDefinitions<Part>(select: (pushed: Pushed) => Part) {
  const { client, key } = useWorkspace();
  return useQuery({
    queryKey: [...key, 'definitions'],
    queryFn: async ({ signal }) =>
      (
        await client.request<{ resources: Pushed }>({
          method: 'POST',
          path: ['sync', 'pull'],
          body: {},
          signal,
        })
      ).resources,
    staleTime: 30_000,
    select,
  });
}
