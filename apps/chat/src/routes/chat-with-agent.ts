import { operations } from '@parley/contracts';
import { route } from '@parley/service';
import { answerChat, chatBodyLimitBytes } from '../answer-chat';
import type { ChatAppDeps } from '../app';

/** `POST /v1/agents/:slug/chat`. */
export const chatAgentRoute = ({ agents }: ChatAppDeps) =>
  route(
    { ...operations.chatWithAgent, bodyLimitBytes: chatBodyLimitBytes },
    ({ params: { slug }, body: { threadContext, ...rest } }, context) =>
      answerChat(agents, { ...rest, agent: { slug }, params: threadContext?.params }, context),
  );
