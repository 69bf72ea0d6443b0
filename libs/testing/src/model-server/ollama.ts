import {
  type ModelServerMessage,
  type ModelServerReply,
  type Protocol,
  checkTools,
  defaultUsage,
  wordsOf,
} from './protocol';
import { countWithQuirks, has, thoughts } from './quirks';

interface WireMessage {
  role: string;
  content: string;
  tool_calls?: { function: { name: string; arguments: unknown } }[];
}

/** Ollama's protocol: `POST /api/chat`, lines of JSON. Calls have no ids; results follow in the order of the calls. */
export const ollamaProtocol: Protocol = {
  matches: (path) => path === '/api/chat',
  read(body, _path, headers) {
    const wire = body.messages as WireMessage[];
    const tools = ((body.tools as { function: { name: string; parameters: unknown } }[] | undefined) ?? []).map(
      (tool) => tool.function,
    );
    const problems = checkTools(tools);
    let open = 0;
    for (const [at, { role, tool_calls }] of wire.entries()) {
      if (role === 'tool') open -= 1;
      else if (open !== 0) problems.push(`message ${at}: calls and results do not match`);
      if (role !== 'tool') open = tool_calls?.length ?? 0;
      for (const call of tool_calls ?? []) {
        if (typeof call.function.arguments !== 'object') problems.push(`message ${at}: arguments are no object`);
      }
    }
    if (open !== 0) problems.push('calls without results at the end');
    const request = {
      protocol: 'ollama' as const,
      model: body.model as string,
      system: wire
        .filter(({ role }) => role === 'system')
        .map(({ content }) => content)
        .join('\n'),
      messages: wire.filter(({ role }) => role !== 'system').map(toMessage),
      tools: tools.map(({ name }) => name),
      headers,
      body,
    };
    return { request, problems };
  },
  write(request, reply) {
    return this.pieces(request, reply).join('');
  },
  asksForStream: (body) => body.stream === true,
  streamType: 'application/x-ndjson',
  pieces(request, reply) {
    const usage = reply.usage ?? defaultUsage;
    const calls = reply.toolCalls?.map(({ name, args = {} }) => ({
      function: { name, ...argsWithQuirks(reply, args) },
    }));
    const line = (fields: object) =>
      `${JSON.stringify({ model: request.model, created_at: new Date().toISOString(), ...fields })}\n`;
    const part = (content: string, rest: object = {}) => ({ message: { role: 'assistant', content, ...rest } });
    const counts = {
      prompt_eval_count: countWithQuirks(reply, usage.input),
      eval_count: countWithQuirks(reply, usage.output),
    };
    const end = {
      ...(!has(reply, 'usage_missing') && counts),
      total_duration: 1,
      ...(!has(reply, 'no_finish_reason') && { done_reason: reply.finish ?? 'stop' }),
    };
    const isThinking = has(reply, 'thoughts_only') || has(reply, 'with_thoughts');
    const words = has(reply, 'thoughts_only') ? [] : wordsOf(reply.text);
    if (has(reply, 'error_in_answer'))
      return [line({ ...part(words[0] ?? ''), done: false }), line({ error: 'the model runner has stopped' })];
    return [
      ...(isThinking ? [line({ ...part('', { thinking: thoughts }), done: false })] : []),
      ...words.map((word) => line({ ...part(word), done: false })),
      ...(calls ? [line({ ...part('', { tool_calls: calls }), done: false })] : []),
      line({ ...part(''), done: true, ...end }),
    ];
  },
  error: (_status, message) => ({ error: message }),
};

function argsWithQuirks(reply: ModelServerReply, args: unknown): { arguments?: unknown } {
  if (has(reply, 'arguments_missing')) return {};
  if (has(reply, 'arguments_object')) return { arguments: JSON.stringify(args) };
  return { arguments: has(reply, 'arguments_null') ? null : args };
}

function toMessage({ role, content, tool_calls }: WireMessage): ModelServerMessage {
  return {
    role: role === 'tool' ? 'tool' : role === 'assistant' ? 'assistant' : 'user',
    text: content,
    toolCalls: (tool_calls ?? []).map((call) => ({ id: '', name: call.function.name, args: call.function.arguments })),
  };
}
