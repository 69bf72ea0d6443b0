import type { Agents } from '@parley/agents';
import { type Handler, notFound } from '@parley/service';
import { type AuditDeps, auditOf } from '../audit';

interface CompilePromptDeps extends AuditDeps {
  agents: Pick<Agents, 'compilePrompt'>;
}

/**
 * `POST /v1/compile-prompt`: an agent's system prompt as in a conversation, and the values it used.
 */
export const compilePrompt =
  ({ agents, ...deps }: CompilePromptDeps): Handler<'compilePrompt'> =>
  async ({ body }, context) => {
    const { caller, scope, requestId, signal } = context;
    const author = { type: caller.type, id: caller.id };
    let recorded: Promise<void> | undefined;
    /** One entry for all tools that the prompt calls. A prompt without any leaves none. */
    const onToolStart = () =>
      (recorded ??= auditOf(
        deps,
        context,
      )({ action: 'prompt.compiled', target: { type: 'agent', id: body.slug } }));
    const result = await agents.compilePrompt(scope, {
      ...body,
      requestId,
      signal,
      author,
      onToolStart,
    });
    if (!result.ok)
      throw notFound('Agent not found or no config for this environment', 'agent_not_found');
    const { raw, compiled, context: values } = result;
    return { raw, compiled, context: values };
  };
