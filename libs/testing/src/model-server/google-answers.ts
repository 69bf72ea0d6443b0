import { argumentsObject, countWithQuirks, has, nameOf, roleOf, usageField } from './apply-quirks';
import {
  type ModelServerReply,
  type ModelServerRequest,
  defaultUsage,
  newCallId,
  wordsOf,
} from './protocol';

export function googleDocument(_request: ModelServerRequest, reply: ModelServerReply): object {
  const usage = usageField(reply, 'usageMetadata', usageOf(reply, outputOf(reply)));
  if (reply.blockReason !== undefined)
    return { promptFeedback: { blockReason: reply.blockReason }, ...usage };
  const parts = [
    ...thoughtsOf(reply),
    ...(reply.text ? [{ text: reply.text }] : []),
    ...callsOf(reply),
  ];
  // Without parts the content is an empty object, as after MALFORMED_FUNCTION_CALL.
  const content = parts.length === 0 ? {} : { role: roleOf(reply, 'model'), parts };
  return {
    candidates: [{ index: 0, content, ...finishOf(reply) }],
    ...usage,
    responseId: newCallId('resp'),
  };
}

export function googlePieces(request: ModelServerRequest, reply: ModelServerReply): unknown[] {
  if (reply.blockReason !== undefined) return [googleDocument(request, reply)];
  const responseId = newCallId('resp');
  const words = wordsOf(reply.text).map((text) => ({ text }));
  const parts = [...thoughtsOf(reply), ...words, ...callsOf(reply)];
  const contents =
    parts.length === 0
      ? [{}]
      : parts.map((part) => ({ role: roleOf(reply, 'model'), parts: [part] }));
  const output = outputOf(reply);
  return contents.map((content, at) => {
    const isLast = at === contents.length - 1;
    const written = isLast ? output : Math.min(at + 1, output);
    return {
      candidates: [{ index: 0, content, ...(isLast && finishOf(reply)) }],
      ...usageField(reply, 'usageMetadata', usageOf(reply, written)),
      responseId,
    };
  });
}

const thoughtsOf = ({ thoughts }: ModelServerReply) =>
  thoughts === undefined ? [] : [{ text: thoughts, thought: true }];

/** Models with thoughts sign their calls. */
const callsOf = (reply: ModelServerReply) =>
  (reply.toolCalls ?? []).map((call) => ({
    functionCall: { name: nameOf(reply, call), args: argumentsObject(reply, call) },
    ...(reply.thoughts !== undefined && { thoughtSignature: 'signed' }),
  }));

const finishOf = (reply: ModelServerReply) =>
  has(reply, 'no_finish_reason') ? {} : { finishReason: reply.finish ?? 'STOP' };

const outputOf = (reply: ModelServerReply): number => (reply.usage ?? defaultUsage).output;

/** The counts of an answer of which so many tokens were written. Thoughts are counted apart. */
function usageOf(reply: ModelServerReply, written: number) {
  const { input, reasoning, cacheRead } = reply.usage ?? defaultUsage;
  return {
    promptTokenCount: countWithQuirks(reply, input),
    candidatesTokenCount: countWithQuirks(reply, Math.max(0, written - (reasoning ?? 0))),
    totalTokenCount: countWithQuirks(reply, input + written),
    ...(reasoning !== undefined && { thoughtsTokenCount: reasoning }),
    ...(cacheRead !== undefined && { cachedContentTokenCount: cacheRead }),
  };
}
