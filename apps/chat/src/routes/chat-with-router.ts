import { operations } from '@parley/contracts';
import { route } from '@parley/service';
import { answerChat, chatBodyLimitBytes } from '../answer-chat';
import type { ChatAppDeps } from '../app';

/** `POST /v1/routers/:slug/chat`: the router picks the agent by its rules or by what the message is about. */
export const chatRouterRoute = ({ agents }: ChatAppDeps) =>
  route(
    { ...operations.chatWithRouter, bodyLimitBytes: chatBodyLimitBytes },
    ({ params: { slug }, body: { threadContext, ...rest } }, context) =>
      answerChat(agents, { ...rest, agent: { routerSlug: slug }, params: threadContext?.params }, context),
  );
