import type { HttpError } from './errors';

const types: Record<number, string> = {
  401: 'authentication_error',
  403: 'permission_error',
  429: 'rate_limit_error',
};
/** Codes of OpenAI that clients know, by ours. */
const codes: Record<string, string> = {
  missing_key: 'invalid_api_key',
  wrong_scheme: 'invalid_api_key',
  unknown_key: 'invalid_api_key',
  agent_not_found: 'model_not_found',
  no_active_config: 'model_not_found',
  router_not_found: 'model_not_found',
  rate_limited: 'rate_limit_exceeded',
};
const params: Record<string, string> = {
  model_not_found: 'model',
  thread_not_found: 'metadata.thread_id',
};

/**
 * An error as OpenAI's clients expect it: `{ error: { message, type, param, code } }`
 * (docs/reference/openai.md#errors).
 */
export function openAiError({ status, code: own, message, extra }: HttpError): object {
  const code = codes[own] ?? own;
  const type = types[status] ?? (status >= 500 ? 'server_error' : 'invalid_request_error');
  const param = params[code] ?? extra.details?.[0]?.path;
  return { error: { message, type, param: param || null, code } };
}
