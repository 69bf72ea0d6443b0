import type { ModelMessage, ModelReply, ModelRequest } from './model';
import { readArguments } from './reading/read-calls';

export const offlineModel = 'offline/scripted';

const advice =
  'No model provider is configured, so this is the built-in offline model. Set OPENAI_API_KEY, ANTHROPIC_API_KEY, ' +
  'GOOGLE_API_KEY or OLLAMA_BASE_URL and restart, or store a key for the organization. ' +
  'To try a tool without a model, send: /tool entity.query {"type":"product"}';

/**
 * The model of an installation without a provider: deterministic and local. `/tool NAME {json}`
 * makes it call that tool and answer with the result. Any other message is answered with
 * instructions to configure a provider.
 */
export function answerOffline(request: ModelRequest): ModelReply {
  const turn = request.messages.slice(
    request.messages.findLastIndex((message) => message.role === 'user'),
  );
  const reply = decide(turn, request);
  const inputTokens = roughTokens(
    request.system + request.messages.map((message) => message.content).join(''),
  );
  const outputTokens = roughTokens(reply.text + JSON.stringify(reply.toolCalls));
  const finishReason = reply.toolCalls.length > 0 ? 'tool_calls' : 'stop';
  return {
    ...reply,
    finishReason,
    providerReason: finishReason,
    isPromptRefused: false,
    droppedCalls: 0,
    usage: { inputTokens, outputTokens, totalTokens: inputTokens + outputTokens },
  };
}

const roughTokens = (text: string): number => Math.ceil(text.length / 4);

function decide(
  turn: ModelMessage[],
  request: ModelRequest,
): Pick<ModelReply, 'text' | 'toolCalls'> {
  const results = turn.flatMap((message) => (message.role === 'tool' ? [message] : []));
  if (results.length > 0) {
    const lines = results.map(
      ({ name, content, isError }) => `${name} ${isError ? 'failed' : 'returned'}: ${content}`,
    );
    return { text: lines.join('\n'), toolCalls: [] };
  }
  const command = /^\s*\/tool\s+(\S+)\s*([\s\S]*)$/.exec(turn[0]?.content ?? '');
  if (command === null) return { text: advice, toolCalls: [] };
  const [, name = '', text = ''] = command;
  if (request.tools.length === 0)
    return { text: `The tool ${name} cannot be called: no tools are offered.`, toolCalls: [] };
  return { text: '', toolCalls: [{ id: request.callId(0), name, ...readArguments(text) }] };
}
