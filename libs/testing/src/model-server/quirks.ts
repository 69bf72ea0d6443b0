/**
 * What servers do that speak a provider's protocol, beside what its documentation says. Each is a
 * switch of a reply.
 */
export const quirks = {
  no_role:
    'no message and no delta has a role (gateways that drop the first delta: LangWatch, TensorZero once)',
  empty_role: 'the role is "" (MiniMax, GLM-5)',
  null_role: 'the role is null (Lemonade, LiteLLM)',
  keepalive_before_role:
    'OpenAI: a delta without anything is sent before the one with the role (oMLX)',
  content_null:
    'the content is null where there is no text, also in deltas (OpenAI with calls, DeepSeek with thoughts)',
  content_parts: 'OpenAI: the text is a list of parts; in a stream the first piece only (Mistral)',
  thoughts_only:
    'the text is sent as thoughts, and there is no other text (models that stop too early)',
  with_thoughts:
    'the model has written thoughts beside its answer, which have to be sent back (DeepSeek, Kimi)',
  think_tag: 'the text begins with thoughts in a tag (vLLM without a parser for them, LM Studio)',
  unopened_think_tag:
    'the same without the opening tag, with which the prompt ends (templates of DeepSeek and Qwen)',
  call_id_null: 'the id of a call is null (some proxies)',
  call_id_empty: 'the id of a call is "" (LM Studio, llama.cpp)',
  call_id_missing: 'a call has no id (streams of vLLM once)',
  call_ids_equal: 'all calls have the same id (some proxies)',
  call_without_name: 'a call names no function (small models behind a parser of calls)',
  call_without_function: 'OpenAI: a call has no function (small models behind a parser of calls)',
  arguments_null: 'the arguments are null, for a tool without parameters (vLLM once)',
  arguments_empty: 'the arguments are the text "" (GLM-5, Claude behind gateways)',
  arguments_blank: 'the arguments are the text " " (some models)',
  arguments_null_text: 'the arguments are the text "null" (some models)',
  arguments_missing: 'the call has no arguments (some gateways)',
  arguments_object:
    'OpenAI: the arguments are an object instead of its text (llama.cpp once). Ollama: a text instead of it',
  calls_without_index:
    'OpenAI: pieces of streamed calls have no index, and no id after the first (Ollama once, Xinference)',
  legacy_function_call:
    'OpenAI: the call is in `function_call`, the field before `tool_calls` (old servers)',
  usage_huge: 'the number of tokens does not fit into 32 bits (faulty counters)',
  usage_text: 'the number of tokens is a text (some gateways)',
  usage_negative: 'the number of tokens is negative (o3 once)',
  usage_null: 'the usage is null; the counts of Ollama are (OpenAI in chunks before the last)',
  usage_missing: 'there is no usage (servers that count only when asked to)',
  usage_in_choice: 'OpenAI: the usage of a stream is in the last choice (Kimi)',
  no_finish_reason:
    'no finish reason is sent; a stream of OpenAI ends with [DONE] (vLLM-MLX, LocalAI)',
  no_done:
    'OpenAI: a stream ends with the finish reason, without usage and [DONE] (TGI and ik_llama.cpp once)',
  error_in_answer:
    'the status is 200 and the body has an error; in a stream after the first word (OpenRouter)',
  many_calls: 'the calls are repeated until they are 200 (models in a loop)',
  ignores_stream: 'a whole answer is sent although a stream was asked for (some proxies)',
  streams_unasked: 'a stream is sent although none was asked for (some proxies)',
  text_plain: 'the content type is text/plain (some proxies)',
  pretty_json: 'a whole answer is indented, on several lines (Gemini)',
  crlf: 'lines end with CR and LF (Gemini)',
  no_blank_lines: 'events are separated by one line feed (some proxies)',
  comments: 'there are comments and `retry` between events (OpenRouter)',
  small_chunks: 'the body is sent in pieces of seven bytes (networks)',
  byte_chunks: 'the body is sent byte by byte, for short answers (networks)',
  html: 'an HTML page with the status 200 (proxies)',
  empty_body: 'nothing, with the status 200 (proxies)',
  huge_answer:
    'a document, or a line of a stream, of 9 MiB: the text is filled up with "x" (faulty servers)',
  endless_text: 'a text of 3 MiB, in a stream in pieces of 64 KiB (models in a loop)',
} as const;

export type Quirk = keyof typeof quirks;

type ProtocolName = 'openai' | 'anthropic' | 'google' | 'ollama';

/**
 * The protocols in which a quirk has a meaning. The others ignore it. Quirks that are not listed
 * have one in all.
 */
const limited: Partial<Record<Quirk, ProtocolName[]>> = {
  keepalive_before_role: ['openai'],
  content_null: ['openai', 'ollama'],
  content_parts: ['openai'],
  call_id_null: ['openai', 'anthropic'],
  call_id_empty: ['openai', 'anthropic'],
  call_id_missing: ['openai', 'anthropic'],
  call_ids_equal: ['openai', 'anthropic'],
  call_without_function: ['openai'],
  arguments_empty: ['openai', 'anthropic'],
  arguments_blank: ['openai', 'anthropic'],
  arguments_null_text: ['openai', 'anthropic'],
  arguments_object: ['openai', 'ollama'],
  calls_without_index: ['openai'],
  legacy_function_call: ['openai'],
  usage_in_choice: ['openai'],
  no_done: ['openai'],
  no_blank_lines: ['openai', 'anthropic', 'google'],
  comments: ['openai', 'anthropic', 'google'],
};

/** The quirks that have a meaning in the protocol. */
export const quirksOf = (protocol: ProtocolName): Quirk[] =>
  (Object.keys(quirks) as Quirk[]).filter((quirk) => limited[quirk]?.includes(protocol) ?? true);
