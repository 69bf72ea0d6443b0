import { type ModelServerCall, type ModelServerReply, type Protocol, newCallId } from './protocol';
import type { Quirk } from './quirks';

/** Thoughts of the model, which must not be shown. */
const secret = 'The secret discount is 30%.';
const thinkTag = `<think>\n${secret}\n</think>\n\n`;
const manyCalls = 200;
const hugeBytes = 9 * 1024 * 1024;
const endlessPiece = 64 * 1024;
const endlessPieces = 48;

export const has = ({ quirks: given = [] }: ModelServerReply, quirk: Quirk): boolean =>
  given.includes(quirk);

/** The reply with the quirks that are part of its texts or of the list of its calls. */
export function withReplyQuirks(reply: ModelServerReply): ModelServerReply {
  return { ...reply, ...textsWithQuirks(reply), toolCalls: callsWithQuirks(reply) };
}

function textsWithQuirks(reply: ModelServerReply): Pick<ModelServerReply, 'text' | 'thoughts'> {
  let { text, thoughts } = reply;
  if (has(reply, 'think_tag')) text = thinkTag + (text ?? '');
  if (has(reply, 'unopened_think_tag')) text = thinkTag.replace('<think>\n', '') + (text ?? '');
  if (has(reply, 'huge_answer')) text = (text ?? '').padEnd(hugeBytes, 'x');
  // A stream has a piece for each word.
  if (has(reply, 'endless_text')) text = `${'x'.repeat(endlessPiece - 1)} `.repeat(endlessPieces);
  if (has(reply, 'with_thoughts')) thoughts = secret;
  if (has(reply, 'thoughts_only')) {
    thoughts = text ?? secret;
    text = undefined;
  }
  return { text, thoughts };
}

function callsWithQuirks(reply: ModelServerReply): ModelServerCall[] | undefined {
  let calls = reply.toolCalls;
  if (calls !== undefined && calls.length > 0 && has(reply, 'many_calls')) {
    const given = calls;
    calls = Array.from({ length: manyCalls }, (_, at) => ({
      ...given[at % given.length]!,
      id: `call_${at}`,
    }));
  }
  if (has(reply, 'call_ids_equal')) return calls?.map((call) => ({ ...call, id: 'call_same' }));
  return calls;
}

/** The role of an answer. JSON does not have a field that is undefined. */
export function roleOf(reply: ModelServerReply, usual: string): string | null | undefined {
  if (has(reply, 'no_role')) return undefined;
  if (has(reply, 'empty_role')) return '';
  return has(reply, 'null_role') ? null : usual;
}

export function idOf(
  reply: ModelServerReply,
  call: ModelServerCall,
  prefix: string,
): string | null | undefined {
  const id = call.id ?? newCallId(prefix);
  if (has(reply, 'call_id_missing')) return undefined;
  if (has(reply, 'call_id_empty')) return '';
  return has(reply, 'call_id_null') ? null : id;
}

export const nameOf = (reply: ModelServerReply, call: ModelServerCall): string | undefined =>
  has(reply, 'call_without_name') ? undefined : call.name;

/** The arguments of a call where the protocol has a text. */
export function argumentsText(
  reply: ModelServerReply,
  { rawArgs, args = {} }: ModelServerCall,
): string | null | undefined {
  if (has(reply, 'arguments_missing')) return undefined;
  if (has(reply, 'arguments_null')) return null;
  if (has(reply, 'arguments_empty')) return '';
  if (has(reply, 'arguments_blank')) return ' ';
  if (has(reply, 'arguments_null_text')) return 'null';
  return rawArgs ?? JSON.stringify(args);
}

/** The arguments of a call where the protocol has an object. */
export function argumentsObject(reply: ModelServerReply, call: ModelServerCall): unknown {
  if (has(reply, 'arguments_missing')) return undefined;
  return has(reply, 'arguments_null') ? null : parsedArgs(call);
}

/**
 * `rawArgs` cannot be sent as it is where the protocol has an object: it is sent when it is JSON.
 */
export function parsedArgs({ rawArgs, args = {} }: ModelServerCall): unknown {
  if (rawArgs === undefined) return args;
  try {
    return JSON.parse(rawArgs) as unknown;
  } catch {
    return args;
  }
}

export function finishOf(reply: ModelServerReply, usual: string): string | null {
  if (has(reply, 'no_finish_reason')) return null;
  return reply.finish ?? usual;
}

/** The number of tokens as a server with the quirk counts it. */
export function countWithQuirks(reply: ModelServerReply, count: number): unknown {
  if (has(reply, 'usage_huge')) return 3_000_000_000;
  if (has(reply, 'usage_text')) return String(count);
  return has(reply, 'usage_negative') ? -1 : count;
}

/** The usage in the field of this name, if there is one. */
export function usageField(
  reply: ModelServerReply,
  name: string,
  usage: unknown,
): Record<string, unknown> {
  if (has(reply, 'usage_missing')) return {};
  return { [name]: has(reply, 'usage_null') ? null : usage };
}

/** The text of a whole answer. */
export function writeWhole(protocol: Protocol, reply: ModelServerReply, document: object): string {
  const sent = has(reply, 'error_in_answer') ? protocol.errorInAnswer : document;
  return bodyWithQuirks(
    reply,
    JSON.stringify(sent, null, has(reply, 'pretty_json') ? 2 : undefined),
  );
}

/** The texts of the pieces of a stream. */
export function writePieces(
  protocol: Protocol,
  reply: ModelServerReply,
  pieces: unknown[],
): string[] {
  if (has(reply, 'html') || has(reply, 'empty_body')) return [bodyWithQuirks(reply, '')];
  let sent = pieces;
  if (has(reply, 'error_in_answer')) {
    const firstText = pieces.findIndex((piece) => protocol.hasText(piece));
    sent = [...pieces.slice(0, firstText + 1), protocol.errorInAnswer];
  }
  return sent.map((piece) => bodyWithQuirks(reply, protocol.serialize(piece)));
}

/** A body, or a piece of one, as a server with the quirk sends it. */
function bodyWithQuirks(reply: ModelServerReply, body: string): string {
  if (has(reply, 'html')) return '<html><body>Welcome</body></html>';
  if (has(reply, 'empty_body')) return '';
  let text = body;
  if (has(reply, 'comments')) text = text.replaceAll('\n\n', '\n\n: keep-alive\nretry: 3000\n\n');
  if (has(reply, 'no_blank_lines')) text = text.replaceAll('\n\n', '\n');
  return has(reply, 'crlf') ? text.replaceAll('\n', '\r\n') : text;
}

/**
 * The body in the writes in which it is sent: pieces of a few bytes end in the middle of
 * characters and lines.
 */
export function chunksOf(reply: ModelServerReply, pieces: string[]): (string | Buffer)[] {
  const isSmall = has(reply, 'small_chunks') || has(reply, 'byte_chunks');
  if (!isSmall) return pieces;
  const size = has(reply, 'byte_chunks') ? 1 : 7;
  const bytes = Buffer.from(pieces.join(''));
  return Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) =>
    bytes.subarray(at * size, (at + 1) * size),
  );
}

/** The content type of an answer, which is usually `usual`. */
export function typeWithQuirks(reply: ModelServerReply, usual: string): string {
  if (has(reply, 'text_plain')) return 'text/plain';
  return has(reply, 'html') ? 'text/html' : usual;
}
