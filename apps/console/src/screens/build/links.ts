import { type LinkProps, linkOptions } from '@tanstack/react-router';
import { usePlace } from '../../frame/workspace';

const base = '/$organization/$environment' as const;

/** Links between the screens about definitions. */
export function useDefinitionLinks() {
  const params = usePlace();
  return {
    agent: (slug: string, tab?: string): LinkProps =>
      linkOptions({ to: `${base}/agents/$slug`, params: { ...params, slug }, search: { tab } }),
    agents: (): LinkProps => linkOptions({ to: `${base}/agents`, params, search: {} }),
    router: (open?: string): LinkProps => linkOptions({ to: `${base}/routers`, params, search: { open } }),
    role: (open?: string): LinkProps => linkOptions({ to: `${base}/roles`, params, search: { open } }),
    tool: (open?: string): LinkProps => linkOptions({ to: `${base}/tools`, params, search: { open } }),
    chat: (target: { agent?: string; router?: string }): LinkProps =>
      linkOptions({ to: `${base}/playground`, params, search: target }),
    executions: (agent: string): LinkProps => linkOptions({ to: `${base}/executions`, params, search: { agent } }),
    conversations: (agent: string): LinkProps =>
      linkOptions({ to: `${base}/conversations`, params, search: { view: 'all', agent } }),
    type: (type: string): LinkProps =>
      linkOptions({ to: `${base}/data/$type`, params: { ...params, type }, search: {} }),
  };
}
