/** What servers do that speak a provider's protocol, beside what its documentation says. Each is a switch of a reply. */
export const quirks = {
  no_role: 'OpenAI: no message and no delta has a role (some gateways)',
  empty_role: 'OpenAI: the role is "" (some gateways)',
  null_role: 'OpenAI: the role is null (some gateways)',
  keepalive_before_role: 'OpenAI: a delta without anything is sent before the one with the role (oMLX)',
  content_parts: 'OpenAI: the text is a list of parts; in a stream the first piece only (Mistral)',
  thoughts_only: 'the model has written thoughts and no text',
  with_thoughts: 'the model has written thoughts beside its answer, which have to be sent back (DeepSeek, Kimi)',
  think_tag: 'the text begins with thoughts in a tag (vLLM without a parser for them, LM Studio)',
  unopened_think_tag: 'the same without the opening tag, with which the prompt ends (templates of DeepSeek and Qwen)',
  call_id_null: 'OpenAI: the id of a call is null',
  call_id_empty: 'OpenAI: the id of a call is "" (LM Studio, llama.cpp)',
  call_id_missing: 'OpenAI: a call has no id',
  call_without_name: 'OpenAI: the function of a call has no name',
  call_without_function: 'OpenAI: a call has no function',
  arguments_null: 'the arguments are null, for a tool without parameters',
  arguments_empty: 'OpenAI: the arguments are ""',
  arguments_blank: 'OpenAI: the arguments are " "',
  arguments_null_text: 'OpenAI: the arguments are the text "null"',
  arguments_missing: 'the call has no arguments',
  arguments_object: 'OpenAI: the arguments are an object instead of its text. Ollama: a text instead of the object',
  calls_without_index: 'OpenAI: pieces of streamed calls have neither index nor id after the first',
  legacy_function_call: 'OpenAI: the call is in `function_call`, the field before `tool_calls`',
  usage_huge: 'the number of tokens does not fit into 32 bits',
  usage_text: 'the number of tokens is a text',
  usage_negative: 'the number of tokens is negative (o3 once)',
  usage_missing: 'there is no usage',
  no_finish_reason: 'no finish reason is sent; a stream of OpenAI ends with [DONE] (vLLM-MLX, LocalAI)',
  error_in_answer: 'the status is 200 and the body has an error; in a stream after the first word (OpenRouter)',
  many_calls: 'the calls are repeated until they are 200',
  ignores_stream: 'a whole answer is sent although a stream was asked for',
  streams_unasked: 'a stream is sent although none was asked for',
  text_plain: 'the content type is text/plain',
  crlf: 'lines end with CR and LF',
  no_blank_lines: 'events are separated by one line feed',
  comments: 'comments and `retry` stand between events',
  small_chunks: 'the body is sent in pieces of seven bytes',
  html: 'an HTML page with the status 200 (proxies)',
  empty_body: 'nothing, with the status 200',
  huge_answer: 'a document, or a line of a stream, of 9 MiB',
} as const;

export type Quirk = keyof typeof quirks;

export const thoughts = 'The secret discount is 30%.';
const thinkTag = `<think>\n${thoughts}\n</think>\n\n`;
const manyCalls = 200;
const hugeBytes = 9 * 1024 * 1024;

interface QuirkedReply {
  text?: string;
  toolCalls?: { id?: string }[];
  quirks?: readonly Quirk[];
}

export const has = ({ quirks: given = [] }: { quirks?: readonly Quirk[] }, quirk: Quirk): boolean =>
  given.includes(quirk);

/** The reply with the quirks that are part of its text or of the list of its calls. */
export function withReplyQuirks<T extends QuirkedReply>(reply: T): T {
  const changed = { ...reply };
  if (has(reply, 'think_tag')) changed.text = thinkTag + (reply.text ?? '');
  if (has(reply, 'unopened_think_tag')) changed.text = thinkTag.replace('<think>\n', '') + (reply.text ?? '');
  if (has(reply, 'huge_answer')) changed.text = 'x'.repeat(hugeBytes);
  if (has(reply, 'many_calls')) {
    const calls = reply.toolCalls ?? [];
    changed.toolCalls = Array.from({ length: manyCalls }, (_, at) => ({
      ...calls[at % calls.length],
      id: `call_${at}`,
    }));
  }
  return changed;
}

/** The number of tokens as a server with the quirk counts it. */
export function countWithQuirks(reply: { quirks?: readonly Quirk[] }, count: number): unknown {
  if (has(reply, 'usage_huge')) return 3_000_000_000;
  if (has(reply, 'usage_text')) return String(count);
  return has(reply, 'usage_negative') ? -1 : count;
}

/** The bytes of a body as a server with the quirk sends it. */
export function bodyWithQuirks(reply: { quirks?: readonly Quirk[] }, body: string): string {
  if (has(reply, 'html')) return '<html><body>Welcome</body></html>';
  if (has(reply, 'empty_body')) return '';
  let text = body;
  if (has(reply, 'comments')) text = text.replaceAll('\n\n', '\n\n: keep-alive\nretry: 3000\n\n');
  if (has(reply, 'no_blank_lines')) text = text.replaceAll('\n\n', '\n');
  return has(reply, 'crlf') ? text.replaceAll('\n', '\r\n') : text;
}
