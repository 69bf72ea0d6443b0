import {
  type ModelServerMessage,
  type ModelServerReply,
  type Protocol,
  checkTools,
  defaultUsage,
  eventOf,
  newCallId,
  wordsOf,
} from './protocol';
import { countWithQuirks, has, thoughts } from './quirks';

interface Part {
  text?: string;
  functionCall?: { name: string; args: unknown };
  functionResponse?: { name: string; response: unknown };
}

interface Content {
  role: string;
  parts: Part[];
}

/** Gemini's protocol: `POST /v1beta/models/<model>:generateContent` and `:streamGenerateContent?alt=sse`. */
export const googleProtocol: Protocol = {
  matches: (path) => path.endsWith(':generateContent') || path.endsWith(':streamGenerateContent'),
  read(body, path, headers) {
    const contents = body.contents as Content[];
    const declared =
      (body.tools as { functionDeclarations?: { name: string; parameters: unknown }[] }[] | undefined) ?? [];
    const tools = declared.flatMap((tool) => tool.functionDeclarations ?? []);
    const problems = checkTools(tools);
    for (const [at, { role, parts }] of contents.entries()) {
      if (role !== 'user' && role !== 'model') problems.push(`content ${at}: role ${role}`);
      if (parts.length === 0) problems.push(`content ${at}: no parts`);
      if (role === contents[at - 1]?.role) problems.push(`content ${at} has the role of the previous content`);
      const calls = parts.filter((part) => part.functionCall).length;
      const answers = contents[at + 1]?.parts.filter((part) => part.functionResponse).length ?? 0;
      if (calls !== answers && calls + answers > 0 && role === 'model') {
        problems.push(`content ${at}: ${calls} calls, ${answers} responses in the next content`);
      }
    }
    if (contents.at(-1)?.role !== 'user') problems.push("the last content is not the user's");
    if (!headers['x-goog-api-key']) problems.push('no x-goog-api-key');
    const system = body.systemInstruction as Content | string | undefined;
    const request = {
      protocol: 'google' as const,
      model: /models\/([^:]+):/.exec(path)?.[1] ?? '',
      system: typeof system === 'object' ? system.parts.map((part) => part.text ?? '').join('') : (system ?? ''),
      messages: contents.flatMap(toMessages),
      tools: tools.map(({ name }) => name),
      headers,
      body,
    };
    return { request, problems };
  },
  write(_request, reply) {
    const usage = reply.usage ?? defaultUsage;
    if (has(reply, 'error_in_answer')) return JSON.stringify(errorInAnswer);
    const usageMetadata = has(reply, 'usage_missing') ? {} : { usageMetadata: usageOf(reply, usage.output) };
    if (reply.blockReason !== undefined)
      return JSON.stringify({ promptFeedback: { blockReason: reply.blockReason }, ...usageMetadata });
    const text = reply.text && !has(reply, 'thoughts_only') ? [{ text: reply.text }] : [];
    const parts = [...thoughtsOf(reply), ...text, ...callsOf(reply)];
    // Without parts the content is an empty object, as after MALFORMED_FUNCTION_CALL.
    const content = parts.length === 0 ? {} : { role: 'model', parts };
    return JSON.stringify({
      candidates: [{ index: 0, content, ...finishOf(reply) }],
      ...usageMetadata,
      responseId: newCallId('resp'),
    });
  },
  asksForStream: (_body, path) => path.endsWith(':streamGenerateContent'),
  streamType: 'text/event-stream',
  pieces(_request, reply) {
    const usage = reply.usage ?? defaultUsage;
    const responseId = newCallId('resp');
    if (reply.blockReason !== undefined) return [eventOf({ promptFeedback: { blockReason: reply.blockReason } })];
    const words = has(reply, 'thoughts_only') ? [] : wordsOf(reply.text).map((text) => ({ text }));
    const parts = [...thoughtsOf(reply), ...words, ...callsOf(reply)];
    if (has(reply, 'error_in_answer')) {
      const content = { role: 'model', parts: parts.slice(0, 1) };
      return [eventOf({ candidates: [{ index: 0, content }] }), eventOf(errorInAnswer)];
    }
    const contents = parts.length === 0 ? [{}] : parts.map((part) => ({ role: 'model', parts: [part] }));
    return contents.map((content, at) => {
      const isLast = at === contents.length - 1;
      const written = isLast ? usage.output : Math.min(at + 1, usage.output);
      return eventOf({
        candidates: [{ index: 0, content, ...(isLast && finishOf(reply)) }],
        ...(!has(reply, 'usage_missing') && { usageMetadata: usageOf(reply, written) }),
        responseId,
      });
    });
  },
  error: (status, message) => ({ error: { code: status, message, status: 'ERROR', details: [] } }),
};

const errorInAnswer = { error: { code: 503, message: 'The model is overloaded', status: 'UNAVAILABLE' } };

const thoughtsOf = (reply: ModelServerReply) =>
  has(reply, 'thoughts_only') || has(reply, 'with_thoughts') ? [{ text: thoughts, thought: true }] : [];

const callsOf = (reply: ModelServerReply) =>
  (reply.toolCalls ?? []).map(({ name, args = {} }) => ({
    functionCall: { name, ...argsWithQuirks(reply, args) },
    ...(has(reply, 'with_thoughts') && { thoughtSignature: 'signed' }),
  }));

function argsWithQuirks(reply: ModelServerReply, args: unknown): { args?: unknown } {
  if (has(reply, 'arguments_missing')) return {};
  return { args: has(reply, 'arguments_null') ? null : args };
}

const finishOf = (reply: ModelServerReply) =>
  has(reply, 'no_finish_reason') ? {} : { finishReason: reply.finish ?? 'STOP' };

/** The counts of an answer of which so many tokens were written. Thoughts are counted apart. */
function usageOf(reply: ModelServerReply, written: number) {
  const { input, reasoning, cacheRead } = reply.usage ?? defaultUsage;
  return {
    promptTokenCount: countWithQuirks(reply, input),
    candidatesTokenCount: countWithQuirks(reply, Math.max(0, written - (reasoning ?? 0))),
    totalTokenCount: countWithQuirks(reply, input + written),
    ...(reasoning !== undefined && { thoughtsTokenCount: reasoning }),
    ...(cacheRead !== undefined && { cachedContentTokenCount: cacheRead }),
  };
}

function toMessages({ role, parts }: Content): ModelServerMessage[] {
  const results = parts.flatMap((part): ModelServerMessage[] =>
    part.functionResponse
      ? [
          {
            role: 'tool',
            text: JSON.stringify(part.functionResponse.response),
            toolCalls: [],
            toolCallId: part.functionResponse.name,
          },
        ]
      : [],
  );
  const toolCalls = parts.flatMap(({ functionCall }) =>
    functionCall ? [{ id: functionCall.name, name: functionCall.name, args: functionCall.args }] : [],
  );
  const text = parts.map((part) => part.text ?? '').join('');
  const isOwn = text !== '' || toolCalls.length > 0;
  return [
    ...results,
    ...(isOwn ? [{ role: role === 'model' ? ('assistant' as const) : ('user' as const), text, toolCalls }] : []),
  ];
}
