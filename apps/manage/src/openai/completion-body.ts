import { z } from 'zod';

type Part = { type?: unknown; text?: unknown; refusal?: unknown };
/** The text of a part, or null for a part that is refused. */
type ReadPart = (part: Part) => string | null;

const stringOrNull = (value: unknown): string | null => (typeof value === 'string' ? value : null);
const isBlank = (text: string): boolean => text.trim() === '';

/**
 * The user and the instructions: a part that is not text, such as an image, is refused, because
 * without it they mean something else.
 */
const readOwnPart: ReadPart = ({ type, text }) => (type === 'text' ? stringOrNull(text) : null);

/**
 * Answers: a part of another type, such as audio, has no text that a model could read again,
 * so it is skipped.
 */
function readAnswerPart({ type, text, refusal }: Part): string | null {
  if (type === 'text') return stringOrNull(text ?? '');
  if (type === 'refusal') return stringOrNull(refusal ?? '');
  return typeof type === 'string' ? '' : null;
}

/**
 * Stops at the first part that is refused: a body has room for half a million, and a schema would
 * list each of them.
 */
function joinParts(parts: unknown, readPart: ReadPart): string | null {
  if (!Array.isArray(parts)) return null;
  let joined = '';
  for (const part of parts) {
    const text = readPart(Object(part) as Part);
    if (text === null) return null;
    joined += text;
  }
  return joined;
}

/**
 * Clients keep messages without content, such as an answer that only called tools. Their text is
 * empty, and they are skipped.
 */
const contentOf = (readPart: ReadPart, problem: string) =>
  z
    .unknown()
    .optional()
    .transform((content, context) => {
      const text = typeof content === 'string' ? content : joinParts(content ?? [], readPart);
      if (text === null) context.addIssue(problem);
      return text ?? '';
    });

const ownContent = contentOf(
  readOwnPart,
  'must be a string or an array of parts of type "text"; other content is not supported',
);
const answerContent = contentOf(
  readAnswerPart,
  'must be a string or an array of parts, each with a type; "text" and "refusal" must be strings',
);

const answer = z
  .object({
    role: z.literal('assistant'),
    content: answerContent,
    refusal: z.string('must be a string').nullish(),
  })
  .transform(({ role, content, refusal }) => ({
    role,
    content: isBlank(content) ? (refusal ?? '') : content,
  }));

/**
 * Results of tools that the client had called elsewhere. The tools of an agent run on the server,
 * so they are left out.
 */
const toolResult = z
  .object({ role: z.enum(['tool', 'function']) })
  .transform(({ role }) => ({ role, content: '' }));

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
    .refine(
      (value) =>
        value == null || values.some((one) => JSON.stringify(one) === JSON.stringify(value)),
      why,
    )
    .optional();
const toolsAreOnServer = 'is not supported: the tools of an agent run on the server';

/**
 * The body of a chat completion. Fields of sampling, such as `temperature`, are ignored,
 * because the agent's definition has them; fields that would make the answer mean something
 * else are refused.
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

/**
 * The last message, and the conversation before it. With a thread only the instructions
 * of that are used.
 */
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
          ? before.flatMap(({ role, content }) =>
              role === 'user' || role === 'assistant' ? [{ role, content }] : [],
            )
          : [],
      isSingle: threadId === undefined,
    },
  };
}
