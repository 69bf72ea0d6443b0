import type { FinishReason } from '@parley/contracts';
import type { ModelUsage } from '../model';
import {
  type AnswerLimits,
  type AnswerReader,
  argumentsOf,
  listOf,
  lookUp,
  objectOf,
  textOf,
  textOrNull,
  tokensOf,
  usageOf,
} from '../reading/answer';
import { answerOf } from '../reading/answer-of';
import { createReplyText } from '../reading/reply-text';
import { createWrittenCalls } from '../reading/written-calls';

/**
 * Gemini's words for answers that were cut off. Every other word but STOP is an error, such as
 * MALFORMED_FUNCTION_CALL.
 */
const finishReasons: Readonly<Record<string, FinishReason>> = {
  MAX_TOKENS: 'length',
  SAFETY: 'content_filter',
  RECITATION: 'content_filter',
  LANGUAGE: 'content_filter',
  BLOCKLIST: 'content_filter',
  PROHIBITED_CONTENT: 'content_filter',
  SPII: 'content_filter',
  IMAGE_SAFETY: 'content_filter',
};
const complete = ['STOP', 'FINISH_REASON_UNSPECIFIED'];

function endOf(reason: string | null): FinishReason | undefined {
  if (reason === null || complete.includes(reason)) return undefined;
  return lookUp(finishReasons, reason) ?? 'error';
}

/** Reads answers of Gemini, whole or as events. */
export function createGoogleReader(
  limits: AnswerLimits,
  write: (delta: string) => void,
): AnswerReader {
  const text = createReplyText(limits.textBytes, write);
  const calls = createWrittenCalls(limits.calls);
  let reason: string | null = null;
  let blockReason: string | null = null;
  let isWhole = false;
  let usage: Record<string, unknown> = {};

  function addPart(given: unknown): void {
    const part = objectOf(given);
    if (part.thought !== true) text.add(textOf(part.text));
    if (typeof part.functionCall !== 'object' || part.functionCall === null) return;
    const { id, name, args } = objectOf(part.functionCall);
    calls.add({
      id: textOf(id),
      name: textOrNull(name),
      args: argumentsOf(args),
      // The model reads its thoughts again by the signature of the call.
      ...(typeof part.thoughtSignature === 'string' && {
        extra: { thoughtSignature: part.thoughtSignature },
      }),
    });
  }

  return {
    take(value, isEvent) {
      usage = { ...usage, ...objectOf(value.usageMetadata) };
      blockReason = textOf(objectOf(value.promptFeedback).blockReason) || blockReason;
      const [first] = listOf(value.candidates);
      if (first === undefined) return;
      isWhole ||= !isEvent;
      const candidate = objectOf(first);
      reason = textOf(candidate.finishReason) || reason;
      for (const part of listOf(objectOf(candidate.content).parts)) addPart(part);
    },
    takeDone() {},
    hasEnded: () => isWhole || reason !== null || blockReason !== null,
    isFull: text.isFull,
    read() {
      const isPromptRefused = blockReason !== null && reason === null;
      return answerOf(text, calls, {
        named: isPromptRefused ? 'content_filter' : endOf(reason),
        providerReason: reason ?? blockReason ?? 'none',
        usage: readUsage(usage),
        ...(isPromptRefused && { isPromptRefused }),
      });
    },
    toBody: (sent) => ({
      candidates: [
        {
          content: {
            role: 'model',
            parts: [
              ...(text.end() === '' ? [] : [{ text: text.end() }]),
              ...sent.map(({ id, name, args, written }) => ({
                functionCall: { id, name, args },
                ...written.extra,
              })),
            ],
          },
          finishReason: 'STOP',
        },
      ],
    }),
  };
}

/** Gemini counts thoughts apart from the tokens of the candidates. */
function readUsage(usage: Record<string, unknown>): ModelUsage {
  const reasoning = tokensOf(usage.thoughtsTokenCount);
  return usageOf({
    input: (tokensOf(usage.promptTokenCount) ?? 0) + (tokensOf(usage.toolUsePromptTokenCount) ?? 0),
    cacheRead: tokensOf(usage.cachedContentTokenCount),
    output: (tokensOf(usage.candidatesTokenCount) ?? 0) + (reasoning ?? 0),
    reasoning,
  });
}
