import { type Chunk, chunksWithQuirks, messageWithQuirks } from './openai-quirks';
import {
  type ModelServerCall,
  type ModelServerMessage,
  type ModelServerReply,
  type Protocol,
  checkToolResults,
  checkTools,
  defaultUsage,
  eventOf,
  newCallId,
  wordsOf,
} from './protocol';
import { countWithQuirks, has } from './quirks';

interface WireMessage {
  role: string;
  content?: string | null;
  tool_calls?: { id: string; type: string; function: { name: string; arguments: string } }[];
  tool_call_id?: string;
}

/** OpenAI's protocol: `POST /v1/chat/completions`. */
export const openAiProtocol: Protocol = {
  matches: (path) => path.endsWith('/chat/completions'),
  read(body, _path, headers) {
    const wire = body.messages as WireMessage[];
    const instructions = wire.filter(({ role }) => role === 'system' || role === 'developer');
    const messages = wire.filter((message) => !instructions.includes(message)).map(toMessage);
    const tools = ((body.tools as { function: { name: string; parameters: unknown } }[] | undefined) ?? []).map(
      (tool) => tool.function,
    );
    const problems = [...checkToolResults(messages), ...checkTools(tools)];
    if (Array.isArray(body.tools) && tools.length === 0) problems.push('tools is an empty list');
    if (!headers.authorization?.startsWith('Bearer ')) problems.push('no bearer token');
    for (const { tool_calls } of wire) {
      for (const call of tool_calls ?? []) {
        if (typeof call.function.arguments !== 'string') problems.push(`arguments of ${call.id} are no text`);
        if (call.id.length > 40) problems.push(`call id ${call.id} is longer than 40`);
      }
    }
    const request = {
      protocol: 'openai' as const,
      model: body.model as string,
      system: instructions.map(({ content }) => content).join('\n'),
      messages,
      tools: tools.map(({ name }) => name),
      headers,
      body,
    };
    return { request, problems };
  },
  write(request, reply) {
    const calls = reply.toolCalls?.map((call) => ({
      id: call.id ?? newCallId('call_'),
      type: 'function',
      function: { name: call.name, arguments: argumentsOf(reply, call) },
    }));
    const message = {
      role: 'assistant',
      content: reply.text ?? null,
      refusal: reply.refusal ?? null,
      ...(calls && { tool_calls: calls }),
    };
    if (has(reply, 'error_in_answer')) return JSON.stringify(errorInAnswer);
    return JSON.stringify({
      id: newCallId('chatcmpl-'),
      object: 'chat.completion',
      created: Math.floor(Date.now() / 1000),
      model: request.model,
      choices: [
        {
          index: 0,
          message: messageWithQuirks(reply, message),
          finish_reason: has(reply, 'no_finish_reason') ? null : (reply.finish ?? (calls ? 'tool_calls' : 'stop')),
          logprobs: null,
        },
      ],
      ...(!has(reply, 'usage_missing') && { usage: usageOf(reply) }),
    });
  },
  asksForStream: (body) => body.stream === true,
  streamType: 'text/event-stream',
  pieces(request, reply) {
    const id = newCallId('chatcmpl-');
    const chunk = (fields: object) => ({
      ...{ id, object: 'chat.completion.chunk', created: 1, model: request.model },
      choices: [],
      ...fields,
    });
    const choice = (delta: object, finish_reason: string | null = null): Chunk =>
      chunk({ choices: [{ index: 0, delta, finish_reason, logprobs: null }] });
    const calls = (reply.toolCalls ?? []).flatMap((call, index) => {
      const begin = { index, id: call.id ?? newCallId('call_'), type: 'function' };
      const written = argumentsOf(reply, call);
      const first = typeof written === 'string' ? '' : written;
      const rest = typeof written === 'string' ? [written.slice(0, 3), written.slice(3)] : [];
      return [
        choice({ tool_calls: [{ ...begin, function: { name: call.name, arguments: first } }] }),
        ...rest.map((text) => choice({ tool_calls: [{ index, function: { arguments: text } }] })),
      ];
    });
    const chunks = [
      choice({ role: 'assistant', content: '' }),
      ...wordsOf(reply.text).map((content) => choice({ content })),
      ...wordsOf(reply.refusal).map((refusal) => choice({ refusal })),
      ...calls,
      choice({}, reply.finish ?? (calls.length > 0 ? 'tool_calls' : 'stop')),
      chunk({ usage: usageOf(reply) }),
    ];
    const all: unknown[] = has(reply, 'error_in_answer')
      ? [...chunks.slice(0, 2), errorInAnswer]
      : chunksWithQuirks(reply, chunks as Chunk[]);
    return [...all.map((one) => eventOf(one)), eventOf('[DONE]')];
  },
  error: (status, message) => ({
    error: { message, type: status === 429 ? 'rate_limit_exceeded' : 'error', param: null, code: null },
  }),
};

const errorInAnswer = { error: { message: 'Upstream is down', code: 502 } };

/** The text of the arguments, or with a quirk the object. */
const argumentsOf = (reply: ModelServerReply, { rawArgs, args = {} }: ModelServerCall): unknown =>
  has(reply, 'arguments_object') ? args : (rawArgs ?? JSON.stringify(args));

function usageOf(reply: ModelServerReply) {
  const { input, output, reasoning, cacheRead, cacheWrite } = reply.usage ?? defaultUsage;
  return {
    prompt_tokens: countWithQuirks(reply, input),
    completion_tokens: countWithQuirks(reply, output),
    total_tokens: countWithQuirks(reply, input + output),
    ...(cacheRead !== undefined && {
      prompt_tokens_details: { cached_tokens: cacheRead, cache_write_tokens: cacheWrite ?? 0 },
    }),
    ...(reasoning !== undefined && { completion_tokens_details: { reasoning_tokens: reasoning } }),
  };
}

function toMessage({ role, content, tool_calls, tool_call_id }: WireMessage): ModelServerMessage {
  return {
    role: role === 'tool' ? 'tool' : role === 'assistant' ? 'assistant' : 'user',
    text: content ?? '',
    toolCalls: (tool_calls ?? []).map((call) => ({
      id: call.id,
      name: call.function.name,
      args: JSON.parse(call.function.arguments) as unknown,
    })),
    ...(tool_call_id !== undefined && { toolCallId: tool_call_id }),
  };
}
