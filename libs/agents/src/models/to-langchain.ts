import type * as messageClasses from '@langchain/core/messages';
import type { AIMessage, BaseMessage } from '@langchain/core/messages';
import type { ModelMessage, ModelReply, ModelRequest, ModelToolCall, ModelUsage } from './model';
import { type ToolNames, createToolNames } from './tool-names';

type MessageClasses = Pick<typeof messageClasses, 'AIMessage' | 'HumanMessage' | 'SystemMessage' | 'ToolMessage'>;

/** A tool in the shape that all four classes accept. */
export interface OpenAiTool {
  type: 'function';
  function: { name: string; description: string; parameters: Record<string, unknown> };
}

export interface ConversionOptions {
  /** `provider/name`. A raw reply is sent back only to the model that wrote it. */
  model: string;
  /** Sends calls and results as text in requests without tools, in which Anthropic rejects tool blocks. */
  needsToolsForHistory: boolean;
  /** Removes a union at the top of a tool's schema, because Anthropic's class would omit the tool. */
  plainObjectSchemas: boolean;
}

export interface Conversion {
  messages: BaseMessage[];
  tools: OpenAiTool[];
  names: ToolNames;
}

/** Converts a request to LangChain's messages and tools. */
export function toLangChain(classes: MessageClasses, request: ModelRequest, options: ConversionOptions): Conversion {
  const names = createToolNames(
    request.tools.map((tool) => tool.name),
    request.otherTools,
  );
  const tools = request.tools.map((tool) => toTool(tool, names, options));
  const asText = options.needsToolsForHistory && tools.length === 0;
  const callIds = new Map<string, string>();
  const messages: BaseMessage[] = [];
  if (request.system !== '') messages.push(new classes.SystemMessage(request.system));
  for (const message of request.messages) {
    if (message.role === 'user') messages.push(new classes.HumanMessage(message.content));
    else if (asText && message.role === 'tool') messages.push(new classes.HumanMessage(resultAsText(message)));
    else if (asText && message.role === 'assistant') messages.push(new classes.AIMessage(callsAsText(message)));
    else if (message.role === 'tool') messages.push(toToolMessage(classes, message, names, callIds));
    else if (message.raw?.model === options.model) {
      for (const [id, providerId] of message.raw.callIds) callIds.set(id, providerId);
      messages.push(message.raw.message as AIMessage);
    } else {
      const calls = message.toolCalls.map(({ id, name, args }) => ({ id, name: names.toProvider(name), args }));
      messages.push(new classes.AIMessage({ content: message.content, tool_calls: calls }));
    }
  }
  return { messages, tools, names };
}

function toToolMessage(
  classes: MessageClasses,
  message: Extract<ModelMessage, { role: 'tool' }>,
  names: ToolNames,
  callIds: ReadonlyMap<string, string>,
): BaseMessage {
  return new classes.ToolMessage({
    tool_call_id: callIds.get(message.toolCallId) ?? message.toolCallId,
    name: names.toProvider(message.name),
    content: message.content,
    status: message.isError ? 'error' : 'success',
  });
}

function toTool(tool: ModelRequest['tools'][number], names: ToolNames, options: ConversionOptions): OpenAiTool {
  const parameters: Record<string, unknown> = { type: 'object', properties: {}, ...tool.parameters };
  if (options.plainObjectSchemas) for (const key of ['oneOf', 'anyOf', 'allOf']) delete parameters[key];
  return {
    type: 'function',
    function: { name: names.toProvider(tool.name), description: tool.description, parameters },
  };
}

const resultAsText = (message: Extract<ModelMessage, { role: 'tool' }>): string =>
  `[${message.name} ${message.isError ? 'failed' : 'returned'}] ${message.content}`;

function callsAsText(message: Extract<ModelMessage, { role: 'assistant' }>): string {
  const calls = message.toolCalls.map(({ name, args }) => `[called ${name} with ${JSON.stringify(args)}]`);
  return [message.content, ...calls].filter((text) => text !== '').join('\n') || '(no text)';
}

/** Converts a provider's answer to a reply, with its tool calls in the order in which the provider wrote them. */
export function fromLangChain(answer: AIMessage, request: ModelRequest, names: ToolNames, model: string): ModelReply {
  const callIds = new Map<string, string>();
  const written = orderOfCalls(answer);
  const valid = (answer.tool_calls ?? []).map((call) => ({
    providerId: call.id,
    name: call.name,
    args: call.args,
    invalid: undefined,
  }));
  const invalid = (answer.invalid_tool_calls ?? []).map((call) => ({
    providerId: call.id,
    name: call.name ?? '',
    args: {},
    invalid: call.args ?? '',
  }));
  const all = [...valid, ...invalid].sort((a, b) => rank(written, a.providerId) - rank(written, b.providerId));
  const toolCalls = all.map((call, index): ModelToolCall => {
    const id = request.callId(index);
    if (call.providerId !== undefined) callIds.set(id, call.providerId);
    const isObject = typeof call.args === 'object' && call.args !== null && !Array.isArray(call.args);
    const name = names.fromProvider(call.name);
    if (call.invalid !== undefined) return { id, name, args: {}, invalid: call.invalid };
    return isObject ? { id, name, args: call.args } : { id, name, args: {}, invalid: JSON.stringify(call.args) };
  });
  // The raw message is not sent back when the provider would reject its calls, or when their ids are not unique.
  const canBeSentBack = (call: (typeof all)[number]) => call.invalid === undefined && /^[\w-]{1,64}$/.test(call.name);
  const isFaithful = all.every(canBeSentBack) && new Set(callIds.values()).size === toolCalls.length;
  return {
    text: textOf(answer.content),
    toolCalls,
    usage: usageOf(answer),
    ...(isFaithful && { raw: { model, message: answer, callIds } }),
  };
}

const rank = (written: string[], id: string | undefined): number => {
  const at = id === undefined ? -1 : written.indexOf(id);
  return at === -1 ? written.length : at;
};

/** LangChain separates valid from invalid calls. The raw list has the provider's order. */
function orderOfCalls(answer: AIMessage): string[] {
  const raw = (answer.additional_kwargs as { tool_calls?: { id?: string }[] }).tool_calls ?? [];
  return raw.map((call) => call.id ?? '');
}

/** The text of a message or of a part of one. */
export function textOf(content: AIMessage['content']): string {
  if (typeof content === 'string') return content;
  const texts = content.map((block) => (block.type === 'text' && typeof block.text === 'string' ? block.text : ''));
  return texts.join('');
}

function usageOf(answer: AIMessage): ModelUsage {
  const usage = answer.usage_metadata;
  const inputTokens = usage?.input_tokens ?? 0;
  const outputTokens = usage?.output_tokens ?? 0;
  const reasoning = usage?.output_token_details?.reasoning;
  return {
    inputTokens,
    outputTokens,
    totalTokens: usage?.total_tokens ?? inputTokens + outputTokens,
    ...(typeof reasoning === 'number' && { reasoningTokens: reasoning }),
  };
}
