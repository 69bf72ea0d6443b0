import type { Agents } from '@parley/agents';
import type { Handler } from '@parley/service';
import { answerChat } from '../answer-chat';

/** `POST /v1/chat`: with the id of an agent or the slug of a router. When both are given the router is used. */
export const chat =
  ({ agents }: { agents: Pick<Agents, 'chat'> }): Handler<'chat'> =>
  ({ body: { agentId, routerSlug, threadContext, ...rest } }, context) => {
    const agent = routerSlug !== undefined ? { routerSlug } : { id: agentId ?? '' };
    return answerChat(agents, { ...rest, agent, params: threadContext?.params }, context);
  };
