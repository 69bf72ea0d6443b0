import { z } from 'zod';

const textOnly = 'must be a string or an array of parts of type "text"; other content is not supported';
const joined = (texts: string[]): string => texts.join('');

/** Clients keep messages without a text, such as an answer that only called tools. They are skipped (`toConversation`). */
const noText = z.null().transform(() => '');
const ownContent = z
  .union(
    [
      z.string(),
      z
        .array(z.object({ type: z.literal('text'), text: z.string() }))
        .transform((parts) => joined(parts.map(({ text }) => text))),
      noText,
    ],
    { error: textOnly },
  )
  .default('');

const text = z.string('must be a string');
/** Parts of other types, such as audio, have no text that a model could read again. */
const answerPart = z
  .looseObject({ type: z.string(), text: text.nullish(), refusal: text.nullish() })
  .transform(({ type, text: written, refusal }) => (type === 'refusal' ? refusal : written) ?? '');
const answerContent = z
  .union([z.string(), z.array(answerPart).transform(joined), noText], {
    error: 'must be a string or an array of parts',
  })
  .default('');

const answer = z
  .object({ role: z.literal('assistant'), content: answerContent, refusal: text.nullish() })
  .transform(({ role, content, refusal }) => ({ role, content: content || (refusal ?? '') }));

/** Results of tools that the client had called elsewhere. The tools of an agent run on the server, so they are left out. */
const toolResult = z.object({ role: z.enum(['tool', 'function']) }).transform(({ role }) => ({ role, content: '' }));

const message = z.discriminatedUnion(
  'role',
  [
    z.object({ role: z.enum(['system', 'developer']), content: ownContent }),
    z.object({ role: z.literal('user'), content: ownContent }),
    answer,
    toolResult,
  ],
  { error: 'must be "system", "developer", "user", "assistant" or "tool"' },
);

/** A field that may only have values which change nothing. */
const only = (values: readonly unknown[], why: string) =>
  z
    .unknown()
    .refine((value) => value == null || values.some((one) => JSON.stringify(one) === JSON.stringify(value)), why)
    .optional();
const toolsAreOnServer = 'is not supported: the tools of an agent run on the server';

/**
 * The body of a chat completion. Fields of sampling, such as `temperature`, are ignored, because the agent's definition has them;
 * fields that would make the answer mean something else are refused.
 */
export const completionBodySchema = z.looseObject({
  model: z
    .string()
    .regex(/^(agent|router):./s, 'must be "agent:<slug>" or "router:<slug>"')
    .max(300),
  messages: z
    .array(message)
    .min(1)
    .max(1_000)
    .refine((messages) => messages.at(-1)?.role === 'user', 'must end with a message of the user')
    .refine((messages) => messages.at(-1)?.content.trim() !== '', 'must end with a message that is not blank'),
  stream: z.boolean().nullish(),
  stream_options: z.object({ include_usage: z.boolean().nullish() }).nullish(),
  metadata: z.looseObject({ thread_id: z.string().min(1).max(200).optional() }).nullish(),
  n: only([1], 'must be 1'),
  stop: only([[]], 'is not supported'),
  tools: only([[]], toolsAreOnServer),
  functions: only([[]], toolsAreOnServer),
  tool_choice: only(['none', 'auto'], toolsAreOnServer),
  function_call: only(['none', 'auto'], toolsAreOnServer),
  response_format: only([{ type: 'text' }], 'must be { "type": "text" }'),
  modalities: only([['text']], 'must be ["text"]'),
  audio: only([], 'is not supported'),
  logprobs: only([false], 'is not supported'),
  web_search_options: only([], toolsAreOnServer),
});

export type CompletionBody = z.output<typeof completionBodySchema>;

/** The last message, and the conversation before it. With a thread only the instructions of that are used. */
export function toConversation({ messages, metadata }: CompletionBody) {
  const threadId = metadata?.thread_id;
  const before = messages.slice(0, -1).filter(({ content }) => content.trim() !== '');
  const isInstruction = ({ role }: { role: string }) => role === 'system' || role === 'developer';
  return {
    message: messages.at(-1)!.content,
    threadId,
    sent: {
      instructions: before
        .filter(isInstruction)
        .map(({ content }) => content)
        .join('\n\n'),
      history:
        threadId === undefined
          ? before.flatMap(({ role, content }) => (role === 'user' || role === 'assistant' ? [{ role, content }] : []))
          : [],
      isSingle: threadId === undefined,
    },
  };
}
