import {
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
import { countWithQuirks, has, thoughts } from './quirks';

type Block =
  | { type: 'text'; text: string }
  | { type: 'tool_use'; id: string; name: string; input: unknown }
  | { type: 'tool_result'; tool_use_id: string; content?: string | Block[] };

interface WireMessage {
  role: 'user' | 'assistant';
  content: string | Block[];
}

/** Anthropic's protocol: `POST /v1/messages`. */
export const anthropicProtocol: Protocol = {
  matches: (path) => path.endsWith('/v1/messages'),
  read(body, _path, headers) {
    const wire = body.messages as WireMessage[];
    const messages = wire.flatMap(toMessages);
    const tools = ((body.tools as { name: string; input_schema: unknown }[] | undefined) ?? []).map((tool) => ({
      name: tool.name,
      parameters: tool.input_schema,
    }));
    const problems = [...checkToolResults(messages), ...checkTools(tools)];
    const ids = messages.flatMap((message) => message.toolCalls.map((call) => call.id));
    if (new Set(ids).size !== ids.length) problems.push('two tool_use blocks share an id');
    for (const id of ids) if (!/^[a-zA-Z0-9_-]+$/.test(id)) problems.push(`bad tool_use id ${id}`);
    if (ids.length > 0 && tools.length === 0) problems.push('tool blocks without a tools field');
    if (wire[0]?.role !== 'user') problems.push("the first message is not the user's");
    for (const [at, message] of wire.entries()) {
      if (message.role === wire[at - 1]?.role) problems.push(`message ${at} has the role of the previous message`);
      const blocks = typeof message.content === 'string' ? [{ type: 'text', text: message.content }] : message.content;
      if (blocks.some((block) => block.type === 'text' && 'text' in block && block.text.trim() === '')) {
        problems.push(`message ${at}: blank text block`);
      }
    }
    if (typeof body.max_tokens !== 'number') problems.push('max_tokens is missing');
    if (!headers['x-api-key']) problems.push('no x-api-key');
    if (!headers['anthropic-version']) problems.push('no anthropic-version');
    const request = {
      protocol: 'anthropic' as const,
      model: body.model as string,
      system: typeof body.system === 'string' ? body.system : textOf((body.system as Block[] | undefined) ?? []),
      messages,
      tools: tools.map(({ name }) => name),
      headers,
      body,
    };
    return { request, problems };
  },
  write(request, reply) {
    const calls = (reply.toolCalls ?? []).map((call) => ({
      type: 'tool_use',
      id: call.id ?? newCallId('toolu_'),
      name: call.name,
      input: inputOf(reply, call.args),
    }));
    if (has(reply, 'error_in_answer')) return JSON.stringify(errorInAnswer);
    return JSON.stringify({
      id: newCallId('msg_'),
      type: 'message',
      role: 'assistant',
      model: request.model,
      content: [...thoughtsOf(reply), ...textOfReply(reply), ...calls],
      stop_reason: stopReasonOf(reply),
      stop_sequence: null,
      ...(!has(reply, 'usage_missing') && { usage: usageOf(reply) }),
    });
  },
  asksForStream: (body) => body.stream === true,
  streamType: 'text/event-stream',
  pieces(request, reply) {
    const usage = usageOf(reply);
    const event = (type: string, fields: object = {}) => eventOf({ type, ...fields }, type);
    const message = { id: newCallId('msg_'), type: 'message', role: 'assistant', model: request.model, content: [] };
    const words = has(reply, 'thoughts_only') ? [] : wordsOf(reply.text);
    const calls = reply.toolCalls ?? [];
    const thinking = thoughtsOf(reply);
    const block = (index: number, content_block: object, deltas: object[]) => [
      event('content_block_start', { index, content_block }),
      ...deltas.map((delta) => event('content_block_delta', { index, delta })),
      event('content_block_stop', { index }),
    ];
    const texts = words.map((text) => ({ type: 'text_delta', text }));
    const first = thinking.length + (words.length > 0 ? 1 : 0);
    const all = [
      event('message_start', {
        message: {
          ...message,
          ...{ stop_reason: null, stop_sequence: null },
          ...(!has(reply, 'usage_missing') && { usage: { ...usage, output_tokens: 1 } }),
        },
      }),
      event('ping'),
      ...thinking.flatMap(({ thinking: text, signature }) =>
        block(0, { type: 'thinking', thinking: '', signature: '' }, [
          { type: 'thinking_delta', thinking: text },
          { type: 'signature_delta', signature },
        ]),
      ),
      ...(words.length > 0 ? block(thinking.length, { type: 'text', text: '' }, texts) : []),
      ...calls.flatMap((call, at) => {
        const args = call.rawArgs ?? JSON.stringify(inputOf(reply, call.args) ?? {});
        const parts = has(reply, 'arguments_missing') ? [] : ['', args.slice(0, 3), args.slice(3)];
        const begin = { type: 'tool_use', id: call.id ?? newCallId('toolu_'), name: call.name, input: {} };
        return block(
          first + at,
          begin,
          parts.map((partial_json) => ({ type: 'input_json_delta', partial_json })),
        );
      }),
      event('message_delta', {
        delta: { stop_reason: stopReasonOf(reply), stop_sequence: null },
        ...(!has(reply, 'usage_missing') && { usage: { output_tokens: usage.output_tokens } }),
      }),
      event('message_stop'),
    ];
    if (has(reply, 'error_in_answer')) return [...all.slice(0, 4), event('error', errorInAnswer)];
    return all;
  },
  error: (status, message) => ({
    type: 'error',
    error: {
      type: status === 429 ? 'rate_limit_error' : status >= 500 ? 'api_error' : 'invalid_request_error',
      message,
    },
  }),
};

const errorInAnswer = { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } };

function inputOf(reply: ModelServerReply, args: unknown): unknown {
  if (has(reply, 'arguments_missing')) return undefined;
  return has(reply, 'arguments_null') ? null : (args ?? {});
}

const thoughtsOf = (reply: ModelServerReply) =>
  has(reply, 'thoughts_only') || has(reply, 'with_thoughts')
    ? [{ type: 'thinking', thinking: thoughts, signature: 'signed' }]
    : [];

const textOfReply = (reply: ModelServerReply) =>
  reply.text && !has(reply, 'thoughts_only') ? [{ type: 'text', text: reply.text }] : [];

function stopReasonOf(reply: ModelServerReply): string | null {
  if (has(reply, 'no_finish_reason')) return null;
  return reply.finish ?? ((reply.toolCalls ?? []).length > 0 ? 'tool_use' : 'end_turn');
}

/** Cached tokens are counted apart. */
function usageOf(reply: ModelServerReply) {
  const { input, output, cacheRead, cacheWrite } = reply.usage ?? defaultUsage;
  return {
    input_tokens: countWithQuirks(reply, input - (cacheRead ?? 0) - (cacheWrite ?? 0)),
    output_tokens: countWithQuirks(reply, output),
    ...(cacheRead !== undefined && { cache_read_input_tokens: cacheRead }),
    ...(cacheWrite !== undefined && { cache_creation_input_tokens: cacheWrite }),
  };
}

/** Converts a message to the common shape, in which each tool result is a separate message. */
function toMessages({ role, content }: WireMessage): ModelServerMessage[] {
  const blocks: Block[] = typeof content === 'string' ? [{ type: 'text', text: content }] : content;
  const results = blocks.flatMap((block): ModelServerMessage[] =>
    block.type === 'tool_result'
      ? [
          {
            role: 'tool',
            text: typeof block.content === 'string' ? block.content : textOf(block.content ?? []),
            toolCalls: [],
            toolCallId: block.tool_use_id,
          },
        ]
      : [],
  );
  const toolCalls = blocks.flatMap((block) =>
    block.type === 'tool_use' ? [{ id: block.id, name: block.name, args: block.input }] : [],
  );
  const text = textOf(blocks);
  const own = text !== '' || toolCalls.length > 0 || results.length === 0 ? [{ role, text, toolCalls }] : [];
  return [...results, ...own];
}

const textOf = (blocks: Block[]): string => blocks.map((block) => (block.type === 'text' ? block.text : '')).join('');
