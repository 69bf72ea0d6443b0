import { z } from 'zod';
import { failure } from '../failure';
import { type BuiltIn, defineBuiltIn } from './built-in';

const handoff = defineBuiltIn({
  name: 'thread.handoff',
  description:
    'Asks for a person of the team to answer this conversation. You do not answer it again until they give it back. Use it when the contact asks for a person, or when you cannot help. With "message" the contact gets this text as your reply, or the text for outside of opening hours.',
  sideEffects: true,
  isAvailable: ({ ports }) => ports.handoff !== undefined,
  args: z.strictObject({
    reason: z.string().min(1).max(1_000).describe('Why a person is needed, for the person.'),
    message: z
      .string()
      .min(1)
      .max(4_096)
      .optional()
      .describe('The reply to the contact. Absent: you write it after the call.'),
  }),
  async call({ reason, message }, { deps, scope, context: { threadId, agentSlug, depth } }) {
    if (threadId === undefined || agentSlug === undefined || (depth ?? 0) > 0)
      return failure(
        'execution_error',
        'thread.handoff works only for the agent that talks with the contact',
      );
    return deps.ports.handoff!(scope, { threadId, agentSlug, reason, message });
  },
});

export const threadTools: readonly BuiltIn[] = [handoff];
