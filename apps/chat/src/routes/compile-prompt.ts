import type { Agents } from '@parley/agents';
import { type Handler, notFound } from '@parley/service';

/** `POST /v1/compile-prompt`: an agent's system prompt as in a conversation, and the values it used. */
export const compilePrompt =
  ({ agents }: { agents: Pick<Agents, 'compilePrompt'> }): Handler<'compilePrompt'> =>
  async ({ body }, { scope, requestId, signal }) => {
    const result = await agents.compilePrompt(scope, { ...body, requestId, signal });
    if (!result.ok) throw notFound('Agent not found or no config for this environment', 'agent_not_found');
    const { raw, compiled, context } = result;
    return { raw, compiled, context };
  };
