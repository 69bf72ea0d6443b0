import { openAiDocument, openAiPieces } from './openai-answers';
import type { Chunk } from './openai-quirks';
import {
  type ModelServerMessage,
  type Protocol,
  checkToolResults,
  checkTools,
  eventOf,
} from './protocol';

interface WireMessage {
  role: string;
  content?: string | null;
  tool_calls?: { id: string; type: string; function: { name: string; arguments: string } }[];
  tool_call_id?: string;
  reasoning_content?: string | null;
}

/** OpenAI's protocol: `POST /v1/chat/completions`. */
export const openAiProtocol: Protocol = {
  matches: (path) => path.endsWith('/chat/completions'),
  read(body, _path, headers) {
    const wire = body.messages as WireMessage[];
    const instructions = wire.filter(({ role }) => role === 'system' || role === 'developer');
    const messages = wire.filter((message) => !instructions.includes(message)).map(toMessage);
    const tools = (
      (body.tools as { function: { name: string; parameters: unknown } }[] | undefined) ?? []
    ).map((tool) => tool.function);
    const problems = [...checkToolResults(messages), ...checkTools(tools)];
    if (Array.isArray(body.tools) && tools.length === 0) problems.push('tools is an empty list');
    if (!headers.authorization?.startsWith('Bearer ')) problems.push('no bearer token');
    for (const { tool_calls } of wire) {
      for (const call of tool_calls ?? []) {
        if (typeof call.function.arguments !== 'string')
          problems.push(`arguments of ${call.id} are no text`);
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
  write: openAiDocument,
  asksForStream: (body) => body.stream === true,
  streamType: 'text/event-stream',
  pieces: openAiPieces,
  serialize: (piece) => eventOf(piece),
  hasText: (piece) => Boolean((piece as Chunk).choices?.[0]?.delta.content),
  error: (status, message) => ({
    error: {
      message,
      type: status === 429 ? 'rate_limit_exceeded' : 'error',
      param: null,
      code: null,
    },
  }),
  errorInAnswer: { error: { message: 'Upstream is down', code: 502 } },
  lacksThoughts(body) {
    const messages = body.messages as WireMessage[];
    const turn = messages.slice(messages.findLastIndex(({ role }) => role === 'user') + 1);
    return turn.some(
      (message) =>
        message.tool_calls !== undefined && typeof message.reasoning_content !== 'string',
    );
  },
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
