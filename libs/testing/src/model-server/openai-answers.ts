import {
  argumentsText,
  countWithQuirks,
  finishOf,
  has,
  idOf,
  nameOf,
  parsedArgs,
  roleOf,
  usageField,
} from './apply-quirks';
import { type Chunk, chunksWithQuirks, messageWithQuirks } from './openai-quirks';
import {
  type ModelServerCall,
  type ModelServerReply,
  type ModelServerRequest,
  defaultUsage,
  newCallId,
  wordsOf,
} from './protocol';

export function openAiDocument(request: ModelServerRequest, reply: ModelServerReply): object {
  const calls = sentCalls(reply)?.map((call) => ({
    id: idOf(reply, call, 'call_'),
    type: 'function',
    function: { name: nameOf(reply, call), arguments: argumentsOf(reply, call) },
  }));
  const message = {
    role: roleOf(reply, 'assistant'),
    content: reply.text ?? null,
    refusal: reply.refusal ?? null,
    ...(reply.thoughts !== undefined && { reasoning_content: reply.thoughts }),
    ...(calls && { tool_calls: calls }),
  };
  const finish_reason = finishOf(reply, usualFinish(reply, calls !== undefined));
  return {
    id: newCallId('chatcmpl-'),
    object: 'chat.completion',
    created: Math.floor(Date.now() / 1000),
    model: request.model,
    choices: [
      { index: 0, message: messageWithQuirks(reply, message), finish_reason, logprobs: null },
    ],
    ...usageField(reply, 'usage', usageOf(reply)),
  };
}

export function openAiPieces(request: ModelServerRequest, reply: ModelServerReply): unknown[] {
  const id = newCallId('chatcmpl-');
  const chunk = (fields: object): Chunk => ({
    id,
    object: 'chat.completion.chunk',
    created: 1,
    model: request.model,
    choices: [],
    ...fields,
  });
  const choice = (delta: object, finish_reason: string | null = null): Chunk =>
    chunk({ choices: [{ index: 0, delta, finish_reason, logprobs: null }] });
  const calls = (sentCalls(reply) ?? []).flatMap((call, index) => callDeltas(reply, call, index));
  const usage = usageField(reply, 'usage', usageOf(reply));
  const chunks = [
    choice({ role: roleOf(reply, 'assistant'), content: '' }),
    ...wordsOf(reply.thoughts).map((reasoning_content) => choice({ reasoning_content })),
    ...wordsOf(reply.text).map((content) => choice({ content })),
    ...wordsOf(reply.refusal).map((refusal) => choice({ refusal })),
    ...calls.map((call) => choice({ tool_calls: [call] })),
    choice({}, finishOf(reply, usualFinish(reply, calls.length > 0))),
    ...('usage' in usage ? [chunk(usage)] : []),
  ];
  return chunksWithQuirks(reply, chunks);
}

/** The legacy field has room for one call. */
const sentCalls = (reply: ModelServerReply): ModelServerCall[] | undefined =>
  has(reply, 'legacy_function_call') ? reply.toolCalls?.slice(0, 1) : reply.toolCalls;

/** The pieces of a streamed call: its arguments are cut in the middle. */
function callDeltas(reply: ModelServerReply, call: ModelServerCall, index: number): object[] {
  const written = argumentsOf(reply, call);
  const isText = typeof written === 'string';
  const named = { name: nameOf(reply, call), arguments: isText ? '' : written };
  const rest =
    isText && !has(reply, 'call_without_function') ? [written.slice(0, 3), written.slice(3)] : [];
  return [
    { index, id: idOf(reply, call, 'call_'), type: 'function', function: named },
    ...rest.map((text) => ({ index, function: { arguments: text } })),
  ];
}

const argumentsOf = (reply: ModelServerReply, call: ModelServerCall): unknown =>
  has(reply, 'arguments_object') ? parsedArgs(call) : argumentsText(reply, call);

function usualFinish(reply: ModelServerReply, hasCalls: boolean): string {
  if (!hasCalls) return 'stop';
  return has(reply, 'legacy_function_call') ? 'function_call' : 'tool_calls';
}

function usageOf(reply: ModelServerReply) {
  const { input, output, reasoning, cacheRead, cacheWrite } = reply.usage ?? defaultUsage;
  const isCached = cacheRead !== undefined || cacheWrite !== undefined;
  return {
    prompt_tokens: countWithQuirks(reply, input),
    completion_tokens: countWithQuirks(reply, output),
    total_tokens: countWithQuirks(reply, input + output),
    ...(isCached && {
      prompt_tokens_details: { cached_tokens: cacheRead ?? 0, cache_write_tokens: cacheWrite ?? 0 },
    }),
    ...(reasoning !== undefined && { completion_tokens_details: { reasoning_tokens: reasoning } }),
  };
}
