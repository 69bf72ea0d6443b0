import { ParleyApiError, ParleyClient } from '@parley/client';
import { type ManageClient, type ResultOf, createManageClient } from '@parley/client/manage';
import { QueryCache, QueryClient, MutationCache, queryOptions } from '@tanstack/react-query';
import { stored } from '../stored';
import { isLost } from './errors';
import { fetchFresh } from './fetch-fresh';

export type Me = ResultOf<'getMe'>;
export type Environment = 'development' | 'production';
export type Organization = Me['organizations'][number];

/** One organization and environment: its client, and the first part of the keys of its queries. */
export interface Workspace {
  organization: Organization;
  environment: Environment;
  isAdmin: boolean;
  client: ParleyClient;
  api: ManageClient;
  /** Only queries of this workspace begin with it. */
  key: readonly [string, Environment];
}

const settings = { baseUrl: location.origin, maxRetries: 1, timeoutMs: 30_000, fetch: fetchFresh };

/** Requests that name no organization. */
export const people = createManageClient(
  new ParleyClient({ ...settings, session: { organizationId: '', environment: 'development' } }),
);

const workspaces = new Map<string, Workspace>();
export function workspaceOf(organization: Organization, environment: Environment): Workspace {
  const id = `${organization.id} ${environment}`;
  let workspace = workspaces.get(id);
  if (workspace?.organization !== organization) {
    const client = new ParleyClient({
      ...settings,
      session: { organizationId: organization.id, environment },
    });
    workspace = {
      organization,
      environment,
      isAdmin: organization.role === 'admin',
      client,
      api: createManageClient(client),
      key: [organization.id, environment] as const,
    };
    workspaces.set(id, workspace);
  }
  return workspace;
}

/** The signed-in person; null without a session. */
export const meQuery = queryOptions({
  queryKey: ['me'],
  queryFn: async ({ signal }): Promise<Me | null> => {
    try {
      return await people.getMe({}, { signal });
    } catch (error) {
      if (error instanceof ParleyApiError && error.status === 401) return null;
      throw error;
    }
  },
  staleTime: 60_000,
});

/** The person was signed in, and the session has ended since. */
export const endedSession = { is: false };

function whenRefused(error: unknown): void {
  // Without its cookie a request is one without a key.
  const isEnded =
    error instanceof ParleyApiError &&
    (error.code === 'no_session' || error.code === 'missing_key');
  if (!isEnded) return;
  endedSession.is = true;
  // What is shown stays in the cache of this page until another person signs in.
  queryClient.setQueryData(meQuery.queryKey, null);
}

export const queryClient: QueryClient = new QueryClient({
  queryCache: new QueryCache({ onError: whenRefused }),
  mutationCache: new MutationCache({ onError: whenRefused }),
  defaultOptions: {
    queries: {
      retry: (failures, error) => failures < 2 && isLost(error),
      staleTime: 5_000,
      // A background tab asks for nothing.
      refetchIntervalInBackground: false,
    },
    mutations: { retry: false },
  },
});

/** Removes what was loaded, except who is signed in, which the page follows. */
const forget = () =>
  queryClient.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== meQuery.queryKey[0] });

const lastPerson = stored('person');
/** After a sign-in: the data of another person is never shown. */
export async function enter(personId: string): Promise<void> {
  if (lastPerson.get() !== personId) forget();
  lastPerson.set(personId);
  endedSession.is = false;
  await queryClient.fetchQuery({ ...meQuery, staleTime: 0 });
}

export async function leave(): Promise<void> {
  await people.signOut().catch(() => undefined);
  forget();
  queryClient.setQueryData(meQuery.queryKey, null);
}
