import {
  type ModelServerMessage,
  type Protocol,
  checkToolResults,
  checkTools,
  defaultUsage,
  eventOf,
  newCallId,
  wordsOf,
} from './protocol';

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
    const usage = reply.usage ?? defaultUsage;
    const calls = reply.toolCalls?.map((call) => ({
      id: call.id ?? newCallId('call_'),
      type: 'function',
      function: { name: call.name, arguments: call.rawArgs ?? JSON.stringify(call.args ?? {}) },
    }));
    return JSON.stringify({
      id: newCallId('chatcmpl-'),
      object: 'chat.completion',
      created: Math.floor(Date.now() / 1000),
      model: request.model,
      choices: [
        {
          index: 0,
          message: {
            role: 'assistant',
            content: reply.text ?? null,
            refusal: null,
            ...(calls && { tool_calls: calls }),
          },
          finish_reason: calls ? 'tool_calls' : 'stop',
          logprobs: null,
        },
      ],
      usage: {
        prompt_tokens: usage.input,
        completion_tokens: usage.output,
        total_tokens: usage.input + usage.output,
        ...(usage.reasoning !== undefined && { completion_tokens_details: { reasoning_tokens: usage.reasoning } }),
      },
    });
  },
  asksForStream: (body) => body.stream === true,
  streamType: 'text/event-stream',
  pieces(request, reply) {
    const usage = reply.usage ?? defaultUsage;
    const id = newCallId('chatcmpl-');
    const chunk = (fields: object) =>
      eventOf({ id, object: 'chat.completion.chunk', created: 1, model: request.model, ...fields });
    const choice = (delta: object, finish_reason: string | null = null) =>
      chunk({ choices: [{ index: 0, delta, finish_reason, logprobs: null }] });
    const calls = (reply.toolCalls ?? []).flatMap((call, index) => {
      const written = call.rawArgs ?? JSON.stringify(call.args ?? {});
      const begin = { index, id: call.id ?? newCallId('call_'), type: 'function' };
      return [
        choice({ tool_calls: [{ ...begin, function: { name: call.name, arguments: '' } }] }),
        choice({ tool_calls: [{ index, function: { arguments: written.slice(0, 3) } }] }),
        choice({ tool_calls: [{ index, function: { arguments: written.slice(3) } }] }),
      ];
    });
    const sent = {
      prompt_tokens: usage.input,
      completion_tokens: usage.output,
      total_tokens: usage.input + usage.output,
    };
    const reasoning =
      usage.reasoning === undefined ? {} : { completion_tokens_details: { reasoning_tokens: usage.reasoning } };
    return [
      choice({ role: 'assistant', content: '' }),
      ...wordsOf(reply.text).map((content) => choice({ content })),
      ...calls,
      choice({}, calls.length > 0 ? 'tool_calls' : 'stop'),
      chunk({ choices: [], usage: { ...sent, ...reasoning } }),
      eventOf('[DONE]'),
    ];
  },
  error: (status, message) => ({
    error: { message, type: status === 429 ? 'rate_limit_exceeded' : 'error', param: null, code: null },
  }),
};

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
