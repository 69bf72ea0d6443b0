import { iterate } from '@parley/client/manage';
import { useQuery } from '@tanstack/react-query';
import { isMissing } from '../../api/errors';
import { useWorkspace } from '../../frame/workspace';
import { type DeliveryFilter, inputOf, isReplayed } from './filter';

/** The names of the providers, which are no words of a language. */
export const providers: Record<string, string> = {
  clerk: 'Clerk',
  flow: 'Flow',
  kapso: 'Kapso',
  polar: 'Polar',
  resend: 'Resend',
};

const maxCounted = 1_000;
/** How many deliveries match a filter that can be replayed; `isCapped`: there are more. */
export function useMatching(filter: DeliveryFilter) {
  const { api, key } = useWorkspace();
  return useQuery({
    queryKey: [...key, 'webhooks', 'count', filter],
    queryFn: async ({ signal }) => {
      let count = 0;
      for await (const _ of iterate(
        api.listWebhookDeliveries,
        { ...inputOf(filter), limit: 100 },
        { signal },
      ))
        if (++count > maxCounted) return { count: maxCounted, isCapped: true };
      return { count, isCapped: false };
    },
    enabled: isReplayed(filter.status),
    refetchInterval: 30_000,
  });
}

/** How far a replay is; null when no delivery belongs to it. */
export function useReplay(id: string | undefined) {
  const { api, key } = useWorkspace();
  return useQuery({
    queryKey: [...key, 'webhook-replay', id],
    queryFn: async ({ signal }) => {
      try {
        return await api.getWebhookReplay({ id: id! }, { signal });
      } catch (error) {
        if (isMissing(error)) return null;
        throw error;
      }
    },
    enabled: id !== undefined,
    refetchInterval: ({ state }) =>
      state.data === null || state.data?.waiting === 0 ? false : 1_500,
  });
}
