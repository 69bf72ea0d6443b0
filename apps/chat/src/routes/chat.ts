import type { Agents } from '@parley/agents';
import type { Handler } from '@parley/service';
import { answerChat } from '../answer-chat';

interface ChatDeps {
  agents: Pick<Agents, 'chat'>;
}

/**
 * `POST /v1/chat`: with the id of an agent or the slug of a router. When both are given
 * the router is used.
 */
export const chat =
  ({ agents }: ChatDeps): Handler<'chat'> =>
  ({ body: { agentId, routerSlug, threadContext, ...rest } }, context) => {
    const agent = routerSlug !== undefined ? { routerSlug } : { id: agentId ?? '' };
    return answerChat(agents, { ...rest, agent, params: threadContext?.params }, context);
  };

/** `POST /v1/agents/:slug/chat`. */
export const chatWithAgent =
  ({ agents }: ChatDeps): Handler<'chatWithAgent'> =>
  ({ params: { slug }, body: { threadContext, ...rest } }, context) =>
    answerChat(agents, { ...rest, agent: { slug }, params: threadContext?.params }, context);

/** `POST /v1/routers/:slug/chat`: the router chooses the agent. */
export const chatWithRouter =
  ({ agents }: ChatDeps): Handler<'chatWithRouter'> =>
  ({ params: { slug }, body: { threadContext, ...rest } }, context) =>
    answerChat(
      agents,
      { ...rest, agent: { routerSlug: slug }, params: threadContext?.params },
      context,
    );
