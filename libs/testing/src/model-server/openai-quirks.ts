import { has } from './apply-quirks';
import type { ModelServerReply } from './protocol';

type Message = Record<string, unknown> & { tool_calls?: Record<string, unknown>[] };

export interface Chunk extends Record<string, unknown> {
  choices: { index: number; delta: Message; finish_reason: string | null; usage?: unknown }[];
}

/** A whole message, or a delta, as a server with the quirks of the reply sends it. */
export function messageWithQuirks(reply: ModelServerReply, message: Message): Message {
  const { content, tool_calls: calls } = message;
  const changed = { ...message };
  if (!content && has(reply, 'content_null')) changed.content = null;
  if (content && has(reply, 'content_parts')) changed.content = [{ type: 'text', text: content }];
  if (calls === undefined) return changed;
  if (has(reply, 'call_without_function'))
    changed.tool_calls = calls.map((call) => ({ ...call, function: undefined }));
  if (has(reply, 'calls_without_index'))
    changed.tool_calls = calls.map((call) => ({ ...call, index: undefined }));
  if (!has(reply, 'legacy_function_call')) return changed;
  return { ...changed, tool_calls: undefined, function_call: calls[0]?.function };
}

/** The pieces of a stream as a server with the quirks of the reply sends them. */
export function chunksWithQuirks(reply: ModelServerReply, given: Chunk[]): unknown[] {
  let chunks = withDeltaQuirks(reply, given);
  if (has(reply, 'keepalive_before_role')) {
    chunks = [{ ...given[0]!, choices: [{ index: 0, delta: {}, finish_reason: null }] }, ...chunks];
  }
  if (has(reply, 'usage_in_choice')) chunks = withUsageInChoice(chunks);
  if (has(reply, 'no_done')) return chunks.filter(({ choices }) => choices.length > 0);
  return [...chunks, '[DONE]'];
}

function withDeltaQuirks(reply: ModelServerReply, chunks: Chunk[]): Chunk[] {
  const firstText = chunks.find(({ choices }) => choices[0]?.delta.content);
  // Mistral sends the first piece of a text as parts, and then texts.
  const later = { ...reply, quirks: reply.quirks?.filter((quirk) => quirk !== 'content_parts') };
  return chunks.map((chunk) => ({
    ...chunk,
    choices: chunk.choices.map((choice) => ({
      ...choice,
      delta: messageWithQuirks(chunk === firstText ? reply : later, choice.delta),
    })),
  }));
}

/** The usage is in the last choice, and there is no chunk for it. */
function withUsageInChoice(chunks: Chunk[]): Chunk[] {
  const usage = chunks.find(({ choices }) => choices.length === 0)?.usage;
  const withChoices = chunks.filter(({ choices }) => choices.length > 0);
  const last = withChoices.at(-1)!;
  return [
    ...withChoices.slice(0, -1),
    { ...last, choices: last.choices.map((choice) => ({ ...choice, usage })) },
  ];
}
