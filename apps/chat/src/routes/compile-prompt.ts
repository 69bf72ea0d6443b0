import { operations } from '@parley/contracts';
import { notFound, route } from '@parley/service';
import type { ChatAppDeps } from '../app';

/** `POST /v1/compile-prompt`: an agent's system prompt as a conversation would see it, and what it used. */
export const compilePromptRoute = ({ agents }: ChatAppDeps) =>
  route(operations.compilePrompt, async ({ body }, { scope, requestId, signal }) => {
    const result = await agents.compilePrompt(scope, { ...body, requestId, signal });
    if (!result.ok) throw notFound('Agent not found or no config for this environment', 'agent_not_found');
    const { raw, compiled, context } = result;
    return { raw, compiled, context };
  });
