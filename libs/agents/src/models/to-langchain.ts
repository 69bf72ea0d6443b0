import type * as messageClasses from '@langchain/core/messages';
import type { AIMessage, BaseMessage } from '@langchain/core/messages';
import type { ModelMessage, ModelReply, ModelRequest, ModelToolCall, RawReply } from './model';
import type { OpenAiTool, ProviderReply } from './provider-call';
import { type ToolNames, createToolNames } from './tool-names';

type MessageClasses = Pick<
  typeof messageClasses,
  'AIMessage' | 'HumanMessage' | 'SystemMessage' | 'ToolMessage'
>;

export interface ConversionOptions {
  /** `provider/name`. A raw reply is sent back only to the model that wrote it. */
  model: string;
  /**
   * Sends calls and results as text in requests without tools, in which Anthropic
   * rejects tool blocks.
   */
  needsToolsForHistory: boolean;
  /**
   * Removes a union at the top of a tool's schema, because Anthropic's class would omit the tool.
   */
  plainObjectSchemas: boolean;
}

/** A longer name of a called tool is cut: no tool has one. */
const maxNameChars = 200;

export interface Conversion {
  messages: BaseMessage[];
  /** The messages that the same model has written in this turn. */
  raw: RawReply[];
  tools: OpenAiTool[];
  names: ToolNames;
}

/** Converts a request to LangChain's messages and tools. */
export function toLangChain(
  classes: MessageClasses,
  request: ModelRequest,
  options: ConversionOptions,
): Conversion {
  const names = createToolNames(
    request.tools.map((tool) => tool.name),
    request.otherTools,
  );
  const tools = request.tools.map((tool) => toTool(tool, names, options));
  const asText = options.needsToolsForHistory && tools.length === 0;
  const callIds = new Map<string, string>();
  const messages: BaseMessage[] = [];
  const raw: RawReply[] = [];
  if (request.system.trim() !== '') messages.push(new classes.SystemMessage(request.system));
  for (const message of request.messages) {
    if (message.role === 'user') messages.push(new classes.HumanMessage(notBlank(message.content)));
    else if (asText && message.role === 'tool')
      messages.push(new classes.HumanMessage(resultAsText(message)));
    else if (asText && message.role === 'assistant')
      messages.push(new classes.AIMessage(callsAsText(message)));
    else if (message.role === 'tool')
      messages.push(toToolMessage(classes, message, names, callIds));
    else if (message.raw?.model === options.model) {
      for (const [id, providerId] of message.raw.callIds) callIds.set(id, providerId);
      messages.push(message.raw.message as AIMessage);
      raw.push(message.raw);
    } else {
      const calls = message.toolCalls.map(({ id, name, args }) => ({
        id,
        name: names.toProvider(name),
        args,
      }));
      // Anthropic refuses blank texts.
      const content = message.content.trim() === '' ? '' : message.content;
      messages.push(new classes.AIMessage({ content, tool_calls: calls }));
    }
  }
  return { messages, raw, tools, names };
}

const notBlank = (text: string): string => (text.trim() === '' ? '(empty)' : text);

function toToolMessage(
  classes: MessageClasses,
  message: Extract<ModelMessage, { role: 'tool' }>,
  names: ToolNames,
  callIds: ReadonlyMap<string, string>,
): BaseMessage {
  return new classes.ToolMessage({
    tool_call_id: callIds.get(message.toolCallId) ?? message.toolCallId,
    name: names.toProvider(message.name),
    content: notBlank(message.content),
    status: message.isError ? 'error' : 'success',
  });
}

function toTool(
  tool: ModelRequest['tools'][number],
  names: ToolNames,
  options: ConversionOptions,
): OpenAiTool {
  const parameters: Record<string, unknown> = {
    type: 'object',
    properties: {},
    ...tool.parameters,
  };
  if (options.plainObjectSchemas)
    for (const key of ['oneOf', 'anyOf', 'allOf']) delete parameters[key];
  return {
    type: 'function',
    function: { name: names.toProvider(tool.name), description: tool.description, parameters },
  };
}

const resultAsText = (message: Extract<ModelMessage, { role: 'tool' }>): string =>
  `[${message.name} ${message.isError ? 'failed' : 'returned'}] ${message.content}`;

function callsAsText(message: Extract<ModelMessage, { role: 'assistant' }>): string {
  const calls = message.toolCalls.map(
    ({ name, args }) => `[called ${name} with ${JSON.stringify(args)}]`,
  );
  return [message.content, ...calls].filter((text) => text !== '').join('\n') || '(no text)';
}

/** Converts a provider's answer to a reply. */
export function toReply(
  { answer, calls, thoughts, message }: ProviderReply,
  { callId }: ModelRequest,
  names: ToolNames,
  model: string,
): ModelReply {
  const toolCalls = calls.map(({ written, args, problem }, index): ModelToolCall => {
    const name = names.fromProvider(written.name ?? '').slice(0, maxNameChars) || 'unnamed';
    return { id: callId(index), name, args, ...(problem !== undefined && { problem }) };
  });
  const returned = {
    message: thoughts,
    calls: new Map(
      calls.flatMap(({ id, written }) =>
        written.extra === undefined ? [] : [[id, written.extra]],
      ),
    ),
  };
  const callIds = new Map(toolCalls.map(({ id }, index) => [id, calls[index]!.id]));
  return {
    text: answer.text,
    finishReason: answer.finishReason,
    providerReason: answer.providerReason,
    isPromptRefused: answer.isPromptRefused ?? false,
    toolCalls,
    droppedCalls: answer.droppedCalls,
    usage: answer.usage,
    raw: { model, message, callIds, returned },
  };
}
