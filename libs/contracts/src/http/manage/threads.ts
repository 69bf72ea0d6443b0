import { z } from 'zod';
import { jsonObjectSchema } from '../../json';
import { listOf, pageQuery, time } from './list';

export const threadParamsSchema = z.object({
  id: z.string().min(1).max(500).describe('Id of the thread, or its external id.'),
});

const state = z.enum(['agent', 'human']);
const threadFields = {
  id: z.string().describe('Id of the thread.'),
  externalId: z.string().nullable().describe("The client's or the channel's id of the conversation."),
  channel: z.string().describe('`api`, `whatsapp`, `widget` or `dashboard`.'),
  agentSlug: z.string().nullable().describe('The agent that answered last.'),
  state: state.describe('Who answers: the agent, or a person who has taken the thread over.'),
  turnCount: z.number().int().describe('Number of messages that were received.'),
  createdAt: time('When the first message arrived.'),
  lastMessageAt: time('When the last message arrived.'),
};

export const listThreadsQuerySchema = z.object({
  ...pageQuery,
  agent: z.string().max(200).optional().describe('Only threads that this agent answered last.'),
  state: state.optional().describe('Only threads that the agent, or a person, answers.'),
});

export const threadListSchema = listOf(
  z.object({
    ...threadFields,
    lastInput: z.string().nullable().describe('The first 200 characters of the last message that was received.'),
  }),
);

export const threadSchema = z.object({
  ...threadFields,
  params: jsonObjectSchema.describe('The values that prompts read as `threadContext.params`.'),
  transferCount: z.number().int().describe('Transfers to other agents since the last pause of four hours.'),
});

export const listThreadMessagesQuerySchema = z.object(pageQuery);
export const threadMessageListSchema = listOf(
  z.object({
    id: z.string().describe('Id of the message.'),
    executionId: z.string().describe('The execution of its turn, which has the tool calls.'),
    role: z.enum(['user', 'assistant']).describe('Who wrote it: the contact, or the agent.'),
    content: z.string().describe('The text. May be empty for a message of the agent that only calls tools.'),
    toolCallIds: z.array(z.string()).describe('Ids of the tool calls that the message asks for.'),
    createdAt: time('When it was stored.'),
  }),
);

export const takeoverSchema = z.object({
  id: z.string().describe('Id of the thread.'),
  state: state.describe('Who answers from now on.'),
  changed: z.boolean().describe('False if it was so already.'),
});
