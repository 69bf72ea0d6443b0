import type { IncomingHttpHeaders } from 'node:http';
import type { Quirk } from './quirks';

export interface ModelServerCall {
  name: string;
  args?: unknown;
  /**
   * Sent unchanged instead of `args`, to test malformed JSON: by OpenAI, and in streams
   * by Anthropic. Where the protocol has an object, it is parsed, and `args` is sent
   * when it is not JSON.
   */
  rawArgs?: string;
  id?: string;
}

/** A request in a form that is independent of the protocol. */
export interface ModelServerRequest {
  protocol: 'openai' | 'anthropic' | 'google' | 'ollama';
  model: string;
  system: string;
  messages: ModelServerMessage[];
  /** The names of the offered tools, as sent to the provider. */
  tools: string[];
  headers: IncomingHttpHeaders;
  body: Record<string, unknown>;
}

export interface ModelServerMessage {
  role: 'user' | 'assistant' | 'tool';
  text: string;
  toolCalls: { id: string; name: string; args: unknown }[];
  toolCallId?: string;
}

export interface ModelServerReply {
  text?: string;
  /**
   * Thoughts of the model: OpenAI's `reasoning_content`, a signed block, a part with `thought`,
   * Ollama's `thinking`.
   */
  thoughts?: string;
  toolCalls?: ModelServerCall[];
  /** `cacheRead` and `cacheWrite` are part of `input`, `reasoning` is part of `output`. */
  usage?: {
    input: number;
    output: number;
    reasoning?: number;
    cacheRead?: number;
    cacheWrite?: number;
  };
  /** The provider's own word for the end, instead of the one that fits the reply. */
  finish?: string;
  /** OpenAI: the text with which the model refuses. */
  refusal?: string;
  /** Gemini: the prompt was blocked for this reason, and there is no candidate. */
  blockReason?: string;
  /** What the server does that its protocol does not provide for. */
  quirks?: readonly Quirk[];
  delayMs?: number;
  /** Time between two pieces of a stream. */
  pieceEveryMs?: number;
  /** Ends a stream after so many pieces: `broken` decides how. */
  pieces?: number;
  /** Sends no response. */
  hang?: boolean;
  /** Truncates the body: `json` ends the response normally, `connection` closes the connection. */
  broken?: 'json' | 'connection';
  status?: number;
  message?: string;
  headers?: Record<string, string>;
  /** The body of an error instead of the provider's own: a text is sent as it is. */
  body?: unknown;
}

export type ModelScript = (
  request: ModelServerRequest,
  index: number,
) => ModelServerReply | Promise<ModelServerReply>;

export interface Protocol {
  matches(path: string): boolean;
  read(
    body: Record<string, unknown>,
    path: string,
    headers: IncomingHttpHeaders,
  ): { request: ModelServerRequest; problems: string[] };
  /** The document of a whole answer. */
  write(request: ModelServerRequest, reply: ModelServerReply): object;
  /** Whether the request asks for a stream. */
  asksForStream(body: Record<string, unknown>, path: string): boolean;
  /** The pieces of a stream. */
  pieces(request: ModelServerRequest, reply: ModelServerReply): unknown[];
  /** The text of a piece of a stream. */
  serialize(piece: unknown): string;
  /** Whether a piece of a stream has a part of the answer's text. */
  hasText(piece: unknown): boolean;
  streamType: string;
  error(status: number, message: string): unknown;
  /** The error that is sent in an answer with the status 200. */
  errorInAnswer: object;
  /** Whether the request lacks thoughts that models with `demandsThoughts` need back. */
  lacksThoughts?(body: Record<string, unknown>): boolean;
}

export const defaultUsage: NonNullable<ModelServerReply['usage']> = { input: 10, output: 5 };

let counter = 0;
export const newCallId = (prefix: string): string =>
  `${prefix}${(counter += 1).toString(36).padStart(6, '0')}`;

/**
 * Checks the rule of all providers: the results of tool calls follow directly, exactly
 * one for each call.
 */
export function checkToolResults(messages: ModelServerMessage[]): string[] {
  const problems: string[] = [];
  let open: string[] = [];
  for (const [at, message] of messages.entries()) {
    if (message.role === 'tool') {
      const id = message.toolCallId ?? '';
      if (!open.includes(id))
        problems.push(`message ${at}: result of ${id}, which was not called just before`);
      open = open.filter((other) => other !== id);
      continue;
    }
    if (open.length > 0) problems.push(`message ${at}: calls ${open.join(', ')} have no result`);
    open = message.toolCalls.map((call) => call.id);
    if (new Set(open).size !== open.length) problems.push(`message ${at}: two calls share an id`);
    for (const { name } of message.toolCalls) {
      if (!/^[a-zA-Z0-9_-]{1,64}$/.test(name))
        problems.push(`message ${at}: bad name of a called tool: ${name}`);
    }
    const isEmpty = message.text === '' && message.toolCalls.length === 0;
    if (isEmpty && message.role !== 'user')
      problems.push(`message ${at}: empty ${message.role} message`);
  }
  if (open.length > 0) problems.push(`calls ${open.join(', ')} have no result at the end`);
  problems.push(...checkUserTexts(messages));
  if (messages.length === 0) problems.push('no messages');
  else if (messages.at(-1)!.role === 'assistant')
    problems.push("the last message is the assistant's");
  return problems;
}

/** Checks that people have written something in each of their messages. */
export function checkUserTexts(messages: { role: string; text: string }[]): string[] {
  const blank = messages.filter(({ role, text }) => role === 'user' && text.trim() === '');
  return blank.map((message) => `message ${messages.indexOf(message)}: blank user message`);
}

export function checkTools(tools: { name?: unknown; parameters?: unknown }[]): string[] {
  const problems: string[] = [];
  for (const { name, parameters } of tools) {
    if (typeof name !== 'string' || !/^[a-zA-Z0-9_-]{1,64}$/.test(name))
      problems.push(`bad tool name ${String(name)}`);
    const type = (parameters as { type?: unknown } | undefined)?.type;
    if (String(type).toLowerCase() !== 'object')
      problems.push(`tool ${String(name)}: parameters are no object schema`);
  }
  const names = tools.map((tool) => tool.name);
  if (new Set(names).size !== names.length) problems.push('two tools share a name');
  return problems;
}

/** A text in the pieces in which a model streams it: words with the space before them. */
export const wordsOf = (text: string | undefined): string[] =>
  text?.match(/\s*\S+\s*$|\s*\S+/g) ?? (text ? [text] : []);

export const eventOf = (data: unknown, event?: string): string =>
  `${event === undefined ? '' : `event: ${event}\n`}data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`;
