import { ollamaDocument, ollamaPieces } from './ollama-answers';
import { type ModelServerMessage, type Protocol, checkTools, checkUserTexts } from './protocol';

interface WireMessage {
  role: string;
  content: string;
  tool_calls?: { function: { name: string; arguments: unknown } }[];
}

/**
 * Ollama's protocol: `POST /api/chat`, lines of JSON. Calls have no ids; results follow in the
 * order of the calls.
 */
export const ollamaProtocol: Protocol = {
  matches: (path) => path === '/api/chat',
  read(body, _path, headers) {
    const wire = body.messages as WireMessage[];
    const tools = (
      (body.tools as { function: { name: string; parameters: unknown } }[] | undefined) ?? []
    ).map((tool) => tool.function);
    const texts = wire.map(({ role, content }) => ({ role, text: content }));
    const problems = [...checkTools(tools), ...checkUserTexts(texts)];
    let open = 0;
    for (const [at, { role, tool_calls }] of wire.entries()) {
      if (role === 'tool') open -= 1;
      else if (open !== 0) problems.push(`message ${at}: calls and results do not match`);
      if (role !== 'tool') open = tool_calls?.length ?? 0;
      for (const call of tool_calls ?? []) {
        if (typeof call.function.arguments !== 'object')
          problems.push(`message ${at}: arguments are no object`);
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
  write: ollamaDocument,
  asksForStream: (body) => body.stream === true,
  streamType: 'application/x-ndjson',
  pieces: ollamaPieces,
  serialize: (piece) => `${JSON.stringify(piece)}\n`,
  hasText: (piece) => Boolean((piece as { message?: { content?: unknown } }).message?.content),
  error: (_status, message) => ({ error: message }),
  errorInAnswer: { error: 'the model runner has stopped' },
};

function toMessage({ role, content, tool_calls }: WireMessage): ModelServerMessage {
  return {
    role: role === 'tool' ? 'tool' : role === 'assistant' ? 'assistant' : 'user',
    text: content,
    toolCalls: (tool_calls ?? []).map((call) => ({
      id: '',
      name: call.function.name,
      args: call.function.arguments,
    })),
  };
}
