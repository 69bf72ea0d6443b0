import { chatBodySchema, operations } from '@parley/contracts';
import { route } from '@parley/service';
import { z } from 'zod';
import { answerChat, chatBodyLimitBytes } from '../answer-chat';
import type { ChatAppDeps } from '../app';

/** Said before anything else is looked at, in the interface's words. */
const bodySchema = z
  .unknown()
  .refine((body) => {
    const { agentId, routerSlug } = (typeof body === 'object' && body !== null ? body : {}) as Record<string, unknown>;
    return Boolean(agentId ?? routerSlug);
  }, 'agentId or routerSlug is required')
  .pipe(chatBodySchema);

/** `POST /v1/chat`: by an agent's identifier or through a router, which goes first when both are given. */
export const chatRoute = ({ agents }: ChatAppDeps) =>
  route(
    { ...operations.chat, body: bodySchema, bodyLimitBytes: chatBodyLimitBytes },
    ({ body: { agentId, routerSlug, threadContext, ...rest } }, context) => {
      const agent = routerSlug !== undefined ? { routerSlug } : { id: agentId ?? '' };
      return answerChat(agents, { ...rest, agent, params: threadContext?.params }, context);
    },
  );
