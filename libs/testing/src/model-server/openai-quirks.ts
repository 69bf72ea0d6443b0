import { type Quirk, has, thoughts } from './quirks';

type Quirked = { quirks?: readonly Quirk[] };
export type Message = Record<string, unknown> & { tool_calls?: Call[] };
type Call = Record<string, unknown> & { function?: Record<string, unknown> };

export interface Chunk extends Record<string, unknown> {
  choices: { index: number; delta: Message; finish_reason: string | null }[];
}

/** A whole message as a server with the quirks of the reply sends it. */
export function messageWithQuirks(reply: Quirked, message: Message): Message {
  const { tool_calls: calls, ...rest } = message;
  const changed: Message = { ...rest, ...roleWithQuirks(reply, rest) };
  if (has(reply, 'content_parts')) changed.content = [{ type: 'text', text: rest.content }];
  if (has(reply, 'thoughts_only')) Object.assign(changed, { content: null, reasoning_content: thoughts });
  if (has(reply, 'with_thoughts')) changed.reasoning_content = thoughts;
  if (calls === undefined) return changed;
  if (has(reply, 'legacy_function_call')) return { ...changed, function_call: calls[0]!.function };
  return { ...changed, tool_calls: calls.map((call) => callWithQuirks(reply, call)) };
}

/** The chunks of a stream as a server with the quirks of the reply sends them. */
export function chunksWithQuirks(reply: Quirked, chunks: Chunk[]): Chunk[] {
  let isFirstText = true;
  const changed = chunks.flatMap((chunk) => {
    const [choice] = chunk.choices;
    if (choice === undefined) return has(reply, 'usage_missing') ? [] : [chunk];
    const delta = deltaWithQuirks(reply, choice.delta, isFirstText);
    if (typeof choice.delta.content === 'string' && choice.delta.content !== '') isFirstText = false;
    const finish_reason = has(reply, 'no_finish_reason') ? null : choice.finish_reason;
    return [{ ...chunk, choices: [{ ...choice, delta, finish_reason }] }];
  });
  const [first] = changed;
  const empty = { ...first!, choices: [{ index: 0, delta: {}, finish_reason: null }] };
  return has(reply, 'keepalive_before_role') ? [empty, ...changed] : changed;
}

function deltaWithQuirks(reply: Quirked, delta: Message, isFirstText: boolean): Message {
  const { tool_calls: calls, ...rest } = delta;
  const changed: Message = { ...rest, ...('role' in rest && roleWithQuirks(reply, rest)) };
  const isText = typeof rest.content === 'string' && rest.content !== '';
  if (isText && isFirstText && has(reply, 'content_parts')) changed.content = [{ type: 'text', text: rest.content }];
  if (isText && has(reply, 'thoughts_only'))
    Object.assign(changed, { content: undefined, reasoning_content: thoughts });
  if ('role' in rest && has(reply, 'with_thoughts')) changed.reasoning_content = thoughts;
  if (calls === undefined) return changed;
  if (has(reply, 'legacy_function_call')) return { ...changed, function_call: calls[0]!.function };
  return { ...changed, tool_calls: calls.map((call) => callWithQuirks(reply, call)) };
}

function roleWithQuirks(reply: Quirked, { role }: Message): Message {
  if (has(reply, 'no_role')) return { role: undefined };
  if (has(reply, 'empty_role')) return { role: '' };
  return { role: has(reply, 'null_role') ? null : role };
}

function callWithQuirks(reply: Quirked, call: Call): Call {
  const changed: Call = { ...call };
  const isBegin = call.id !== undefined;
  if (has(reply, 'calls_without_index')) delete changed.index;
  if (isBegin && has(reply, 'call_id_null')) changed.id = null;
  if (isBegin && has(reply, 'call_id_empty')) changed.id = '';
  if (isBegin && has(reply, 'call_id_missing')) delete changed.id;
  if (has(reply, 'call_without_function')) delete changed.function;
  if (changed.function !== undefined) changed.function = functionWithQuirks(reply, changed.function);
  return changed;
}

function functionWithQuirks(reply: Quirked, given: Record<string, unknown>): Record<string, unknown> {
  const changed = { ...given };
  if (has(reply, 'call_without_name')) delete changed.name;
  if (has(reply, 'arguments_null')) changed.arguments = null;
  if (has(reply, 'arguments_empty')) changed.arguments = '';
  if (has(reply, 'arguments_blank')) changed.arguments = ' ';
  if (has(reply, 'arguments_missing')) delete changed.arguments;
  // In a stream only the first piece has the text; the others would repeat it.
  const isWhole = given.name !== undefined;
  if (has(reply, 'arguments_null_text')) changed.arguments = isWhole ? 'null' : '';
  return changed;
}
