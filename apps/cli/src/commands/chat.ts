import { constants } from 'node:os';
import { createInterface } from 'node:readline';
import type { ChatResponse, ToolCallSummary } from '@parley/contracts';
import { type Api, createApi } from '../api';
import { io } from '../command-io';
import { Failure, exitCodes, usageFailure } from '../failure';
import { safeLine, safeText } from '../safe-text';
import { asJson, colors, note, print, printJson, printJsonError } from '../terminal';

export interface ChatOptions {
  thread?: string;
  externalThread?: string;
  param?: string[];
  router?: boolean;
  phone?: string;
  json?: boolean;
}

/** `parley chat <agent> [message]`: sends one message, or reads messages until the input ends. */
export async function runChat(
  agent: string,
  message: string | undefined,
  options: ChatOptions,
): Promise<void> {
  const api = createApi();
  const conversation = createConversation(api, agent, options);
  if (message !== undefined) return show(await conversation.say(message), options);
  await converse(conversation, options);
}

interface Reply {
  response: ChatResponse;
  /** How many calls of each tool were printed before the response. */
  printed: Map<string, number>;
}

interface Conversation {
  /**
   * Sends a message to the thread of the previous one. On a terminal, tool calls are
   * printed while they run.
   */
  say(message: string): Promise<Reply>;
}

function createConversation(api: Api, agent: string, options: ChatOptions): Conversation {
  const params = parseParams(options.param ?? []);
  if (options.phone !== undefined && !options.router)
    throw usageFailure('--phone requires --router');
  const collection = options.router ? 'routers' : 'agents';
  let threadId = options.thread;
  return {
    async say(message) {
      const stop = await printCalls(api, message);
      let printed = new Map<string, number>();
      const asked = api.post<ChatResponse>(`/v1/${collection}/${encodeURIComponent(agent)}/chat`, {
        message,
        threadId,
        externalThreadId: threadId === undefined ? options.externalThread : undefined,
        threadContext: params && { params },
        phoneNumber: options.phone,
      });
      const response = await asked.finally(() => (printed = stop()));
      threadId = response.threadId;
      return { response, printed };
    },
  };
}

/** Prints the tool calls of a message while it is answered, on a terminal. */
async function printCalls(api: Api, message: string): Promise<() => Map<string, number>> {
  if (asJson() || !io().stderr.isTTY) return () => new Map();
  const { followCalls } = await import('../conversations/follow-calls');
  return followCalls(api, message, {
    started: (name) => note(colors.dim(`  … ${safeLine(name)}`)),
    ended: ({ name, status, errorType, errorMessage, durationMs }) =>
      note(
        formatCall({
          name,
          durationMs: durationMs ?? 0,
          status: status === 'success' ? status : 'error',
          errorType: errorType ?? undefined,
          errorMessage: errorMessage ?? undefined,
        }),
      ),
  });
}

/** Parses `name=value`. The value is parsed as JSON if it is valid JSON, otherwise it is text. */
function parseParams(written: string[]): Record<string, unknown> | undefined {
  if (written.length === 0) return undefined;
  const entries = written.map((text) => {
    const at = text.indexOf('=');
    if (at < 1) throw usageFailure(`--param must be name=value, not "${text}"`);
    return [text.slice(0, at), parseValue(text.slice(at + 1))] as const;
  });
  return Object.fromEntries(entries);
}

function parseValue(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/**
 * Reads one message per line, from a terminal or a pipe. An error is printed, and the
 * conversation continues.
 */
async function converse(conversation: Conversation, options: ChatOptions): Promise<void> {
  const { stdin, stdout } = io();
  const isTerminal = stdin.isTTY;
  const lines = createInterface({ input: stdin, output: isTerminal ? stdout : undefined });
  if (isTerminal) note(colors.dim('Press Ctrl-D to end the conversation.'));
  // readline handles Ctrl-C as input and sends no signal. Exit also while a request is in progress.
  lines.on('SIGINT', () => process.exit(128 + constants.signals.SIGINT));
  lines.setPrompt(colors.cyan('> '));
  const prompt = () => isTerminal && lines.prompt();
  prompt();
  for await (const line of lines) {
    if (line.trim() !== '') await answer(conversation, line, options);
    prompt();
  }
  if (isTerminal) note('');
}

async function answer(
  conversation: Conversation,
  line: string,
  options: ChatOptions,
): Promise<void> {
  try {
    show(await conversation.say(line), options);
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    io().exitCode = exitCodes.failure;
    const { message, text, fields } = error;
    if (options.json) printJsonError(text, fields);
    else note(colors.red(safeText(`error: ${message}`)));
  }
}

function show({ response, printed }: Reply, { json }: ChatOptions): void {
  if (json) return printJson(response);
  for (const call of response._executionMeta?.toolCallSummary ?? []) {
    const shown = printed.get(call.name) ?? 0;
    if (shown > 0) printed.set(call.name, shown - 1);
    else note(formatCall(call));
  }
  if (response.routedToAgentSlug)
    note(colors.dim(`  routed to ${safeLine(response.routedToAgentSlug)}`));
  if (response._transferred)
    note(colors.dim(`  transferred to ${response._transferred.targetAgentSlug}`));
  // No agent was called: a person has taken the thread over (docs/reference/chat.md#takeover).
  const isStoredOnly = response.message === '' && response.assistantMessageId === undefined;
  if (isStoredOnly)
    note(
      colors.yellow(
        '  stored, not answered: a person has taken this thread over (parley threads resume)',
      ),
    );
  else print(safeText(response.message));
  note(colors.dim(`  thread ${response.threadId}, ${formatCost(response)}`));
}

function formatCall({
  name,
  durationMs,
  status,
  errorType,
  errorMessage,
  reason,
}: ToolCallSummary): string {
  const outcome =
    status === 'success'
      ? 'ok'
      : [errorType, errorMessage, reason].filter(Boolean).join(': ') || status;
  const line = `  ${safeLine(name)}  ${safeLine(outcome)}  ${Math.round(durationMs)} ms`;
  return status === 'success' ? colors.dim(line) : colors.red(line);
}

function formatCost({ usage, _executionMeta: meta }: ChatResponse): string {
  const tokens = `${usage.inputTokens} + ${usage.outputTokens} tokens`;
  return meta === undefined
    ? tokens
    : `${meta.model}, ${tokens}, ${Math.round(meta.durationMs)} ms`;
}
