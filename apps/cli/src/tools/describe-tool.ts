import type { JsonObject, SyncPull } from '@parley/contracts';
import type { builtInTools } from '@parley/tools';
import { createApi } from '../api';

export interface DescribedTool {
  name: string;
  kind: 'built-in' | 'custom';
  description: string;
  /** What the roles of a caller must allow. Callers without a role need no permission. */
  permission: string;
  /** JSON Schema of the arguments. */
  parameters: JsonObject;
}

export function describeBuiltIn({
  name,
  description,
  parameters,
  needs,
}: (typeof builtInTools)[number]): DescribedTool {
  const of = `the entity type${'entityIdIn' in needs ? ` of ${needs.entityIdIn}` : ''}`;
  const permission = needs.action === 'execute' ? `execute on ${name}` : `${needs.action} on ${of}`;
  return { name, kind: 'built-in', description, permission, parameters };
}

/** The custom tools of the key's environment. */
export async function pullCustomTools(): Promise<DescribedTool[]> {
  const { resources } = await createApi().post<SyncPull>('/v1/sync/pull', {});
  return resources.tools.map(({ name, description, parameters }) => ({
    name,
    kind: 'custom',
    description,
    permission: `execute on ${name}`,
    parameters,
  }));
}
