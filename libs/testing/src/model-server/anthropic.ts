import { anthropicDocument, anthropicPieces } from './anthropic-answers';
import {
  type ModelServerMessage,
  type Protocol,
  checkToolResults,
  checkTools,
  eventOf,
} from './protocol';

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
    const tools = ((body.tools as { name: string; input_schema: unknown }[] | undefined) ?? []).map(
      (tool) => ({
        name: tool.name,
        parameters: tool.input_schema,
      }),
    );
    const problems = [...checkToolResults(messages), ...checkTools(tools)];
    const ids = messages.flatMap((message) => message.toolCalls.map((call) => call.id));
    if (new Set(ids).size !== ids.length) problems.push('two tool_use blocks share an id');
    for (const id of ids) if (!/^[a-zA-Z0-9_-]+$/.test(id)) problems.push(`bad tool_use id ${id}`);
    if (ids.length > 0 && tools.length === 0) problems.push('tool blocks without a tools field');
    if (wire[0]?.role !== 'user') problems.push("the first message is not the user's");
    for (const [at, message] of wire.entries()) {
      if (message.role === wire[at - 1]?.role)
        problems.push(`message ${at} has the role of the previous message`);
      const blocks =
        typeof message.content === 'string'
          ? [{ type: 'text', text: message.content }]
          : message.content;
      if (
        blocks.some((block) => block.type === 'text' && 'text' in block && block.text.trim() === '')
      ) {
        problems.push(`message ${at}: blank text block`);
      }
    }
    if (typeof body.max_tokens !== 'number') problems.push('max_tokens is missing');
    if (!headers['x-api-key']) problems.push('no x-api-key');
    if (!headers['anthropic-version']) problems.push('no anthropic-version');
    const request = {
      protocol: 'anthropic' as const,
      model: body.model as string,
      system:
        typeof body.system === 'string'
          ? body.system
          : textOf((body.system as Block[] | undefined) ?? []),
      messages,
      tools: tools.map(({ name }) => name),
      headers,
      body,
    };
    return { request, problems };
  },
  write: anthropicDocument,
  asksForStream: (body) => body.stream === true,
  streamType: 'text/event-stream',
  pieces: anthropicPieces,
  serialize: (piece) => eventOf(piece, (piece as { type: string }).type),
  hasText: (piece) => (piece as { delta?: { type?: string } }).delta?.type === 'text_delta',
  error: (status, message) => ({
    type: 'error',
    error: {
      type:
        status === 429 ? 'rate_limit_error' : status >= 500 ? 'api_error' : 'invalid_request_error',
      message,
    },
  }),
  errorInAnswer: { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } },
};

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
  const own =
    text !== '' || toolCalls.length > 0 || results.length === 0 ? [{ role, text, toolCalls }] : [];
  return [...results, ...own];
}

const textOf = (blocks: Block[]): string =>
  blocks.map((block) => (block.type === 'text' ? block.text : '')).join('');
