import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { type Environment, type Workspace, meQuery, workspaceOf } from '../api/session';
import { stored } from '../stored';

/** The organization and environment that were open last. */
export const lastWorkspace = stored('workspace');

/** The organization and environment of the address; null when the person does not belong to it. */
export function useKnownWorkspace(): Workspace | null {
  const { organization: slug, environment } = useParams({ strict: false });
  const { data: me } = useQuery(meQuery);
  const organization = me?.organizations.find((one) => one.slug === slug);
  const isKnown = environment === 'development' || environment === 'production';
  if (!organization || !isKnown) return null;
  return workspaceOf(organization, environment as Environment);
}

/** The same below the frame, which shows its screens only when it exists. */
export const useWorkspace = (): Workspace => useKnownWorkspace()!;
