import type { ResourceSet, ToolSecretList } from '@parley/contracts';
import type { Api } from '../api';

/**
 * A warning for each secret that the pushed tools declare and that is not set. None when the server
 * cannot list them.
 */
export async function missingSecrets(
  api: Api,
  tools: ResourceSet['tools'] = [],
): Promise<string[]> {
  const declared = new Set(tools.flatMap(({ secrets = [] }) => secrets));
  if (declared.size === 0) return [];
  const { data } = await api.get<ToolSecretList>('/v1/tool-secrets').catch(() => ({ data: null }));
  if (data === null) return [];
  const set = new Set(data.filter(({ setAt }) => setAt !== null).map(({ name }) => name));
  return [...declared]
    .filter((name) => !set.has(name))
    .map((name) => {
      const users = tools.filter(({ secrets }) => secrets?.includes(name)).map((tool) => tool.name);
      return `the secret ${name} of ${users.join(', ')} is not set: parley tool-secrets set ${name} -`;
    });
}
