import { agentChatBodySchema, chatResponseSchema } from '@parley/contracts';
import { route } from '@parley/service';
import { z } from 'zod';
import { answerChat, chatBodyLimitBytes } from '../answer-chat';
import type { ChatAppDeps } from '../app';

/** `POST /v1/agents/:slug/chat`. */
export const chatAgentRoute = ({ agents }: ChatAppDeps) =>
  route(
    {
      method: 'post',
      path: '/v1/agents/:slug/chat',
      permission: 'chat',
      params: z.object({ slug: z.string() }),
      body: agentChatBodySchema,
      bodyLimitBytes: chatBodyLimitBytes,
      idempotent: true,
      response: chatResponseSchema,
    },
    ({ params: { slug }, body: { threadContext, ...rest } }, context) =>
      answerChat(agents, { ...rest, agent: { slug }, params: threadContext?.params }, context),
  );
