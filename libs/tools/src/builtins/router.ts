import { z } from 'zod';
import { failure } from '../failure';
import { type BuiltIn, defineBuiltIn } from './built-in';

const transfer = defineBuiltIn({
  name: 'router.transfer',
  description:
    'Transfers this conversation to another agent, which answers from the next message on. Use it when the request is for another agent. Do not answer the request yourself afterwards.',
  sideEffects: true,
  isAvailable: ({ ports }) => ports.transfer !== undefined,
  args: z.strictObject({
    agentSlug: z.string().min(1).max(100).describe('Slug of the agent that answers next.'),
    reason: z.string().max(1_000).optional().describe('The reason, in a few words.'),
  }),
  async call({ agentSlug, reason }, { deps, scope, context }) {
    if (context.threadId === undefined || context.agentSlug === undefined) {
      return failure(
        'execution_error',
        'router.transfer works only inside a conversation with an agent',
      );
    }
    if (agentSlug === context.agentSlug) {
      return failure('execution_error', `Agent "${agentSlug}" already has this conversation`);
    }
    return deps.ports.transfer!(scope, {
      threadId: context.threadId,
      executionId: context.executionId,
      fromAgentSlug: context.agentSlug,
      toAgentSlug: agentSlug,
      reason,
    });
  },
});

export const routerTools: readonly BuiltIn[] = [transfer];
