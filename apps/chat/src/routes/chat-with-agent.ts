import type { Agents } from '@parley/agents';
import type { Handler } from '@parley/service';
import { answerChat } from '../answer-chat';

/** `POST /v1/agents/:slug/chat`. */
export const chatWithAgent =
  ({ agents }: { agents: Pick<Agents, 'chat'> }): Handler<'chatWithAgent'> =>
  ({ params: { slug }, body: { threadContext, ...rest } }, context) =>
    answerChat(agents, { ...rest, agent: { slug }, params: threadContext?.params }, context);
