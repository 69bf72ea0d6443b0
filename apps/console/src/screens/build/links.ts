import type { LinkProps } from '@tanstack/react-router';
import { linkTo } from '../../parts/link';

/** Links between the screens about definitions. */
export const links = {
  agent: (slug: string, tab?: string): LinkProps =>
    linkTo({ to: 'agents/$slug', params: { slug }, search: { tab } }),
  agents: (): LinkProps => linkTo({ to: 'agents' }),
  router: (open?: string): LinkProps => linkTo({ to: 'routers', search: { open } }),
  role: (open?: string): LinkProps => linkTo({ to: 'roles', search: { open } }),
  tool: (open?: string): LinkProps => linkTo({ to: 'tools', search: { open } }),
  chat: (target: { agent?: string; router?: string }): LinkProps =>
    linkTo({ to: 'playground', search: target }),
  executions: (agent: string): LinkProps => linkTo({ to: 'executions', search: { agent } }),
  conversations: (agent: string): LinkProps =>
    linkTo({ to: 'conversations', search: { view: 'all', agent } }),
  type: (type: string): LinkProps => linkTo({ to: 'data/$type', params: { type } }),
};
