import type { Agents } from '@parley/agents';
import type { Handler } from '@parley/service';
import { answerChat } from '../answer-chat';

/** `POST /v1/routers/:slug/chat`: the router chooses the agent. */
export const chatWithRouter =
  ({ agents }: { agents: Pick<Agents, 'chat'> }): Handler<'chatWithRouter'> =>
  ({ params: { slug }, body: { threadContext, ...rest } }, context) =>
    answerChat(agents, { ...rest, agent: { routerSlug: slug }, params: threadContext?.params }, context);
