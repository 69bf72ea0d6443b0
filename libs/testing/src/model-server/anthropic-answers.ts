import {
  argumentsObject,
  argumentsText,
  countWithQuirks,
  finishOf,
  idOf,
  nameOf,
  roleOf,
  usageField,
} from './apply-quirks';
import {
  type ModelServerCall,
  type ModelServerReply,
  type ModelServerRequest,
  defaultUsage,
  newCallId,
  wordsOf,
} from './protocol';

/** The thoughts have to be sent back with it. */
const signature = 'signed';

export function anthropicDocument(request: ModelServerRequest, reply: ModelServerReply): object {
  const calls = (reply.toolCalls ?? []).map((call) => ({
    type: 'tool_use',
    id: idOf(reply, call, 'toolu_'),
    name: nameOf(reply, call),
    input: argumentsObject(reply, call),
  }));
  const thoughts =
    reply.thoughts === undefined ? [] : [{ type: 'thinking', thinking: reply.thoughts, signature }];
  const text = reply.text ? [{ type: 'text', text: reply.text }] : [];
  return {
    id: newCallId('msg_'),
    type: 'message',
    role: roleOf(reply, 'assistant'),
    model: request.model,
    content: [...thoughts, ...text, ...calls],
    stop_reason: stopReasonOf(reply),
    stop_sequence: null,
    ...usageField(reply, 'usage', usageOf(reply)),
  };
}

export function anthropicPieces(request: ModelServerRequest, reply: ModelServerReply): unknown[] {
  const usage = usageOf(reply);
  const message = {
    id: newCallId('msg_'),
    type: 'message',
    role: roleOf(reply, 'assistant'),
    model: request.model,
    content: [],
    stop_reason: null,
    stop_sequence: null,
    ...usageField(reply, 'usage', { ...usage, output_tokens: 1 }),
  };
  const blocks = [
    ...thinkingBlocks(reply.thoughts),
    ...textBlocks(reply.text),
    ...(reply.toolCalls ?? []).map((call) => callBlock(reply, call)),
  ];
  return [
    { type: 'message_start', message },
    { type: 'ping' },
    ...blocks.flatMap(({ begin, deltas }, index) => [
      { type: 'content_block_start', index, content_block: begin },
      ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
      { type: 'content_block_stop', index },
    ]),
    {
      type: 'message_delta',
      delta: { stop_reason: stopReasonOf(reply), stop_sequence: null },
      ...usageField(reply, 'usage', { output_tokens: usage.output_tokens }),
    },
    { type: 'message_stop' },
  ];
}

interface StreamedBlock {
  begin: object;
  deltas: object[];
}

function thinkingBlocks(thoughts: string | undefined): StreamedBlock[] {
  if (thoughts === undefined) return [];
  const deltas = [
    { type: 'thinking_delta', thinking: thoughts },
    { type: 'signature_delta', signature },
  ];
  return [{ begin: { type: 'thinking', thinking: '', signature: '' }, deltas }];
}

function textBlocks(written: string | undefined): StreamedBlock[] {
  const words = wordsOf(written);
  if (words.length === 0) return [];
  return [
    {
      begin: { type: 'text', text: '' },
      deltas: words.map((text) => ({ type: 'text_delta', text })),
    },
  ];
}

/**
 * The arguments are an empty object at the beginning; their text follows in pieces that are
 * cut in the middle.
 */
function callBlock(reply: ModelServerReply, call: ModelServerCall): StreamedBlock {
  const args = argumentsText(reply, call);
  const parts = typeof args === 'string' ? ['', args.slice(0, 3), args.slice(3)] : [];
  return {
    begin: {
      type: 'tool_use',
      id: idOf(reply, call, 'toolu_'),
      name: nameOf(reply, call),
      input: args === null ? null : {},
    },
    deltas: parts.map((partial_json) => ({ type: 'input_json_delta', partial_json })),
  };
}

const stopReasonOf = (reply: ModelServerReply): string | null =>
  finishOf(reply, (reply.toolCalls ?? []).length > 0 ? 'tool_use' : 'end_turn');

/** Cached tokens are counted apart. */
function usageOf(reply: ModelServerReply) {
  const { input, output, cacheRead, cacheWrite } = reply.usage ?? defaultUsage;
  return {
    input_tokens: countWithQuirks(reply, input - (cacheRead ?? 0) - (cacheWrite ?? 0)),
    output_tokens: countWithQuirks(reply, output),
    ...(cacheRead !== undefined && { cache_read_input_tokens: cacheRead }),
    ...(cacheWrite !== undefined && { cache_creation_input_tokens: cacheWrite }),
  };
}
