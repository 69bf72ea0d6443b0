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

const isBlank = (given: string): boolean => given.trim() === '';
const nullableText = z
  .string()
  .nullish()
  .transform((given) => given ?? '');
/** Parts of other types, such as audio, have no text that a model could read again. */
const answerPart = z.union([
  z.object({ type: z.literal('text'), text: nullableText }).transform(({ text }) => text),
  z.object({ type: z.literal('refusal'), refusal: nullableText }).transform(({ refusal }) => refusal),
  z.object({ type: z.string().refine((type) => type !== 'text' && type !== 'refusal') }).transform(() => ''),
]);
const answerContent = z.union([z.string(), z.array(answerPart).transform(joined), noText]).default('');

const answer = z
  .object({ role: z.literal('assistant'), content: answerContent, refusal: nullableText })
  .transform(({ role, content, refusal }) => ({ role, content: isBlank(content) ? refusal : content }));

/** Results of tools that the client had called elsewhere. The tools of an agent run on the server, so they are left out. */
const toolResult = z.object({ role: z.enum(['tool', 'function']) }).transform(({ role }) => ({ role, content: '' }));

const roles = 'must be "system", "developer", "user", "assistant" or "tool"';
const message = z.discriminatedUnion(
  'role',
  [
    z.object({ role: z.enum(['system', 'developer']), content: ownContent }),
    z.object({ role: z.literal('user'), content: ownContent }),
    answer,
    toolResult,
  ],
  // A message that is no object has the usual text.
  { error: ({ code }) => (code === 'invalid_union' ? roles : undefined) },
);
type Message = z.output<typeof message>;

/** What is wrong with the last message, which is the one that the agent answers. */
function problemOfLast({ role, content }: Message): string | null {
  if (role === 'tool' || role === 'function')
    return 'must end with a message of the user, not with a result of a tool: the tools of an agent run on the server';
  if (role !== 'user') return 'must end with a message of the user';
  return isBlank(content) ? 'must end with a message that is not blank' : null;
}

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
    .superRefine((messages, context) => {
      const last = messages.at(-1);
      const problem = last === undefined ? null : problemOfLast(last);
      if (problem !== null) context.addIssue(problem);
    }),
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
  const before = messages.slice(0, -1).filter(({ content }) => !isBlank(content));
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
