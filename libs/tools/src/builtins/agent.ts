import { z } from 'zod';
import { failure } from '../failure';
import { type BuiltIn, defineBuiltIn } from './built-in';

/** Maximum depth of nested calls of agents, counted from a person's turn. */
const maxDepth = 3;

const chat = defineBuiltIn({
  name: 'agent.chat',
  description:
    'Asks another agent and returns its reply. The other agent sees only this message, so include everything that it needs.',
  sideEffects: true,
  // The call is a whole turn of the other agent, with its own model calls and tools.
  timeLimitMs: 180_000,
  isAvailable: ({ ports }) => ports.chatWithAgent !== undefined,
  args: z.strictObject({
    agentSlug: z.string().min(1).max(100).describe('Slug of the agent to ask.'),
    message: z
      .string()
      .min(1)
      .max(100_000)
      .describe('The question, with all the context that the other agent needs.'),
  }),
  async call({ agentSlug, message }, { deps, scope, actor, context, signal }) {
    const waiting = [
      ...(context.parentAgents ?? []),
      ...(context.agentSlug === undefined ? [] : [context.agentSlug]),
    ];
    if (waiting.includes(agentSlug)) {
      const cycle = [...waiting, agentSlug].join(' → ');
      return failure(
        'execution_error',
        `Agent "${agentSlug}" is already waiting for this answer (${cycle})`,
      );
    }
    if (context.depth >= maxDepth) {
      return failure(
        'execution_error',
        `At most ${maxDepth} agents may ask each other in a row; answer with what is known`,
      );
    }
    const { contact, hops, root, rootExecutionId, nesting, runAs, params, requestId } = context;
    const inherited = {
      contact,
      hops,
      root,
      rootExecutionId,
      nesting,
      runAs,
      params,
      requestId,
      signal,
    };
    const depth = context.depth + 1;
    return deps.ports.chatWithAgent!(scope, {
      agentSlug,
      message,
      actor,
      depth,
      parentAgents: waiting,
      ...inherited,
    });
  },
});

export const agentTools: readonly BuiltIn[] = [chat];
