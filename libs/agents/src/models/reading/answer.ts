import type { FinishReason, JsonObject } from '@parley/contracts';
import type { ModelUsage } from '../model';

/** One tool call as the provider wrote it. */
export interface WrittenCall {
  /** Empty if the provider gave none. */
  id: string;
  /** Null if the provider gave none. */
  name: string | null;
  /** The text of the arguments, which may be incomplete. */
  args: string;
  /** Fields of the provider that go back to it with the call, within the turn. */
  extra?: Record<string, unknown>;
}

/** An answer as the provider sent it, the same whether it was streamed or not. */
export interface Answer {
  /**
   * Any other than `stop` and `tool_calls`: the answer was cut off, or is not what was asked for.
   */
  finishReason: FinishReason;
  /** The provider's own word for it, such as `MALFORMED_FUNCTION_CALL`. */
  providerReason: string;
  /** Without the model's thoughts. The text of a refusal, if the model refused. */
  text: string;
  /** At most as many as a message may have. */
  calls: WrittenCall[];
  /** Calls beyond that number. Nothing else is known of them. */
  droppedCalls: number;
  usage: ModelUsage;
  /** The provider refused the request itself, and would refuse it again. */
  isPromptRefused?: boolean;
}

/** Reads one answer in the protocol of its provider. */
export interface AnswerReader {
  /**
   * Takes the answer as a whole, or one event of its stream (`isEvent`), which is no error. Throws
   * a `ProviderFault` for an error that is nested in it.
   */
  take(value: Record<string, unknown>, isEvent: boolean): void;
  /** Takes the line `[DONE]`, with which some streams end. */
  takeDone(): void;
  /** Whether the provider has said how the answer ends. False: the answer is incomplete. */
  hasEnded(): boolean;
  /** Whether the rest of the answer is not needed, because its text has reached the limit. */
  isFull(): boolean;
  read(): Answer;
  /**
   * The same answer as a whole, as the provider's documentation describes one, for the
   * LangChain class.
   */
  toBody(calls: readonly SentCall[]): Record<string, unknown>;
  /**
   * Fields with the model's thoughts that the LangChain class leaves out when it sends
   * the message back.
   */
  thoughts?(): Record<string, unknown>;
}

/**
 * A call as it is run and sent back to the provider: with an id, a valid name and
 * complete arguments.
 */
export interface SentCall {
  id: string;
  name: string;
  args: JsonObject;
  /** Why the call cannot be run, as a sentence for the model. */
  problem?: string;
  written: WrittenCall;
}

/** A value of a table by a name that the provider chose. */
export const lookUp = <T>(table: Readonly<Record<string, T>>, name: string): T | undefined =>
  Object.hasOwn(table, name) ? table[name] : undefined;

/**
 * The text of arguments. Servers send an object where the protocol has a text, and the
 * other way round.
 */
export function argumentsOf(given: unknown): string {
  if (typeof given === 'string') return given;
  return given == null ? '' : jsonOf(given);
}

/** Maximum thoughts of an answer that are kept to be sent back, in characters. */
export const maxThoughtChars = 1024 * 1024;

/** What a reader may keep of an answer. */
export interface AnswerLimits {
  /** Maximum calls. */
  calls: number;
  /** Maximum text, in bytes of UTF-8. */
  textBytes: number;
}

/** An object, or an empty one for anything else. */
export const objectOf = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : {};

export const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);

export const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

export const textOrNull = (value: unknown): string | null =>
  typeof value === 'string' ? value : null;

/** The value of a JSON text; undefined if the text is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The JSON of a value, or the beginning of it if the value is nested too deeply to be written. */
export function jsonOf(value: unknown): string {
  try {
    return JSON.stringify(value);
  } catch {
    return '[nested too deeply]';
  }
}

/**
 * No model reads or writes more tokens in one call. Sums of a turn stay within the columns
 * of `executions`.
 */
const maxTokens = 10_000_000;

/**
 * A number of tokens; undefined if it is not a small whole one: providers have sent texts, negative
 * and huge numbers.
 */
export const tokensOf = (value: unknown): number | undefined =>
  Number.isInteger(value) && (value as number) >= 0 && (value as number) <= maxTokens
    ? (value as number)
    : undefined;

interface TokenCounts {
  /** All input tokens, with those that were read from or written to the provider's cache. */
  input: number | undefined;
  cacheRead?: number;
  cacheWrite?: number;
  /** All output tokens, with those of reasoning. */
  output: number | undefined;
  reasoning?: number;
}

export function usageOf({
  input = 0,
  output = 0,
  cacheRead,
  cacheWrite,
  reasoning,
}: TokenCounts): ModelUsage {
  return {
    inputTokens: input,
    outputTokens: output,
    totalTokens: input + output,
    ...(reasoning !== undefined && { reasoningTokens: reasoning }),
    ...(cacheRead !== undefined && { cacheReadTokens: cacheRead }),
    ...(cacheWrite !== undefined && { cacheWriteTokens: cacheWrite }),
  };
}
