import { z } from 'zod';
import { failure } from '../failure';
import { type BuiltIn, defineBuiltIn } from './built-in';

/** How many agents may stand in a row behind a person's turn. */
const maxDepth = 3;

const chat = defineBuiltIn({
  name: 'agent.chat',
  description:
    'Asks another agent and returns its reply. The other agent sees only this message, so include everything it needs to know.',
  sideEffects: true,
  needs: { action: 'execute' },
  // A whole turn of the other agent, with its own model calls and tools.
  timeLimitMs: 180_000,
  isAvailable: ({ ports }) => ports.chatWithAgent !== undefined,
  args: z.strictObject({
    agentSlug: z.string().min(1).max(100).describe('Slug of the agent to ask.'),
    message: z.string().min(1).max(100_000).describe('What to ask, with all the context it needs.'),
  }),
  async call({ agentSlug, message }, { deps, scope, actor, context, signal }) {
    const waiting = [...(context.parentAgents ?? []), ...(context.agentSlug === undefined ? [] : [context.agentSlug])];
    if (waiting.includes(agentSlug)) {
      const circle = [...waiting, agentSlug].join(' → ');
      return failure('execution_error', `Agent "${agentSlug}" is already waiting for this answer (${circle})`);
    }
    if (context.depth >= maxDepth) {
      return failure(
        'execution_error',
        `At most ${maxDepth} agents may ask each other in a row; answer with what is known`,
      );
    }
    return deps.ports.chatWithAgent!(scope, {
      agentSlug,
      message,
      actor,
      contact: context.contact,
      depth: context.depth + 1,
      parentAgents: waiting,
      hops: context.hops,
      nesting: context.nesting,
      params: context.params,
      requestId: context.requestId,
      signal,
    });
  },
});

export const agentTools: readonly BuiltIn[] = [chat];
