import type { JsonObject } from '@parley/client';
import { type ResultOf, iterate } from '@parley/client/manage';
import { skipToken, useQuery, useQueryClient } from '@tanstack/react-query';
import { useDefinitions } from '../../api/queries';
import type { Workspace } from '../../api/session';
import { useWorkspace } from '../../frame/workspace';
import { useWholeList } from '../../parts/pages';
import type { TriggerStart } from './words';

export type Trigger = Omit<ResultOf<'listTriggers'>['data'][number], 'on'> & { on: TriggerStart };
export type Run = ResultOf<'listTriggerRuns'>['data'][number];
export type RunStatus = Run['status'];
type RunDetails = ResultOf<'getTriggerRun'>;
export type RunStep = RunDetails['steps'][number];

/** The triggers of the environment. The API answers with what starts them as any object. */
export function useTriggers() {
  const { api, key } = useWorkspace();
  const load = async (signal: AbortSignal) => {
    const data: Trigger[] = [];
    for await (const trigger of iterate(api.listTriggers, {}, { signal }))
      data.push(trigger as Trigger);
    return { data };
  };
  return useWholeList([...key, 'triggers', 'list'], load, 10_000);
}

/**
 * The fields of a definition that a trigger's screen shows (docs/reference/definitions.md#trigger).
 */
export interface TriggerDefinition {
  actions: { tool: string; args: JsonObject; as?: string }[];
  schedule?: {
    delay?: number | string;
    at?: string;
    offset?: number | string;
    cancelPrevious?: boolean;
  };
  retry?: { maxAttempts: number; backoffMs?: number };
  cascade?: boolean;
}

/** A trigger as it was pushed; undefined when it is not deployed. */
export function useTriggerDefinition(slug: string) {
  return useDefinitions(({ triggers = [] }) =>
    (triggers as (JsonObject & TriggerDefinition)[]).find((one) => one.slug === slug),
  );
}

const isOpen = (status: RunStatus): boolean => status === 'scheduled' || status === 'running';

export function useRun(id: string) {
  const { api, key } = useWorkspace();
  return useQuery({
    queryKey: [...key, 'trigger-run', id],
    queryFn: ({ signal }) => api.getTriggerRun({ id }, { signal }),
    refetchInterval: ({ state }) =>
      state.data === undefined || isOpen(state.data.status) ? 2_000 : 15_000,
  });
}

/** A retry reaches this many runs of a trigger. */
const maxRetried = 1_000;
/** Runs that wait longer are not read for the progress of a retry. */
const maxWaitingRead = 2_000;

/** How many dead runs of a trigger can be retried: all that are no records of refused runs. */
export function useDeadRuns(slug: string) {
  const { api, key } = useWorkspace();
  return useQuery({
    queryKey: [...key, 'trigger-runs', 'dead', slug],
    queryFn: async ({ signal }) => {
      let count = 0;
      for await (const run of iterate(
        api.listTriggerRuns,
        { trigger: slug, status: 'dead', limit: 100 },
        { signal },
      )) {
        if (run.refusedRuns === 0) count += 1;
        if (count > maxRetried) return { count: maxRetried, isCapped: true };
      }
      return { count, isCapped: false };
    },
    refetchInterval: 30_000,
  });
}

export const retriedKey = (key: Workspace['key'], slug: string) => [...key, 'retried-runs', slug];

/** Runs that were retried together, which this page remembers until it is closed. */
export function useRetried(slug: string) {
  const { api, key } = useWorkspace();
  const cache = useQueryClient();
  const idsKey = retriedKey(key, slug);
  const { data: ids = null } = useQuery<string[] | null>({
    queryKey: idsKey,
    queryFn: skipToken,
    staleTime: Infinity,
    gcTime: Infinity,
  });
  const forget = () => cache.setQueryData(idsKey, null);
  const { data: progress } = useQuery({
    queryKey: [...key, 'trigger-runs', 'retried', slug, ids?.length, ids?.[0]],
    queryFn: async ({ signal }) => {
      const of = new Set(ids);
      const countOf = async (status: RunStatus) => {
        let [found, read] = [0, 0];
        for await (const run of iterate(
          api.listTriggerRuns,
          { trigger: slug, status, limit: 100 },
          { signal },
        )) {
          if (of.has(run.id)) found += 1;
          if (found === of.size || ++read === maxWaitingRead) break;
        }
        return found;
      };
      const open = (await countOf('running')) + (await countOf('scheduled'));
      return { open, dead: await countOf('dead') };
    },
    enabled: ids !== null && ids.length > 0,
    refetchInterval: ({ state }) => (state.data?.open === 0 ? false : 2_000),
  });
  return { ids, progress, forget };
}
