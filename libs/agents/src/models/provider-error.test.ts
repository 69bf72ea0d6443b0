import { readProviderError } from './provider-error';
import {
  AnswerTooLarge,
  ProviderFault,
  UnreadableAnswer,
  faultOf,
  faultOfResponse,
} from './reading/provider-fault';

const nowMs = Date.parse('2026-01-01T00:00:00Z');
const respond = (status: number, body: unknown, headers: Record<string, string> = {}) =>
  readProviderError(
    faultOfResponse(status, headers, typeof body === 'string' ? body : JSON.stringify(body), nowMs),
  );

it('reads Retry-After in every form', () => {
  const after = (headers: Record<string, string>) => respond(429, {}, headers).retryAfterMs;
  expect(after({ 'retry-after': '7' })).toBe(7_000);
  expect(after({ 'retry-after': '0.5' })).toBe(500);
  expect(after({ 'retry-after-ms': '250', 'retry-after': '9' })).toBe(250);
  expect(after({ 'retry-after': 'Thu, 01 Jan 2026 00:00:03 GMT' })).toBe(3_000);
  expect(after({ 'retry-after': 'Thu, 01 Jan 2020 00:00:00 GMT' })).toBe(0);
  expect(after({ 'retry-after': 'soon' })).toBeUndefined();
  expect(after({})).toBeUndefined();
  const google = { error: { code: 429, details: [{ '@type': 'x' }, { retryDelay: '12s' }] } };
  expect(respond(429, google).retryAfterMs).toBe(12_000);
});

const overflows: [string, number, unknown][] = [
  ['OpenAI', 400, { error: { message: 'x', code: 'context_length_exceeded' } }],
  [
    'OpenAI, a newer text',
    400,
    {
      error: {
        message:
          'Input tokens exceed the configured limit of 272000 tokens. Your messages resulted in 300000.',
      },
    },
  ],
  [
    'OpenAI, one request above the limit of a minute',
    429,
    { error: { message: 'Request too large for gpt-4o on TPM' } },
  ],
  [
    'vLLM',
    400,
    { object: 'error', message: "This model's maximum context length is 8192 tokens.", code: 400 },
  ],
  [
    'vLLM, a newer text',
    400,
    { message: "This model's context length is only 8192 tokens", type: 'BadRequestError' },
  ],
  [
    'Groq and Cerebras',
    400,
    { message: 'Please reduce the length of the messages or completion.' },
  ],
  ['Groq', 413, { error: { message: 'Request too large for model', code: 'rate_limit_exceeded' } }],
  ['llama.cpp', 400, { error: { message: 'the request exceeds the available context size' } }],
  ['LiteLLM and Bedrock', 400, { error: { message: 'Input is too long for requested model.' } }],
  ['Anthropic', 400, { error: { message: 'prompt is too long: 210000 tokens > 200000 maximum' } }],
  [
    'Anthropic, with the reply',
    400,
    {
      error: {
        message: 'input length and `max_tokens` exceed context limit: 195000 + 8192 > 200000',
      },
    },
  ],
  [
    'Anthropic, in bytes',
    413,
    { error: { type: 'request_too_large', message: 'Request exceeds the maximum size' } },
  ],
  [
    'Google',
    400,
    {
      error: {
        message: 'The input token count (1100000) exceeds the maximum number of tokens allowed',
      },
    },
  ],
  ['Kimi', 400, { error: { message: 'Your request exceeded model token limit: 131072' } }],
  [
    'xAI',
    400,
    {
      error: {
        message: "This model's maximum prompt length is 131072 but the request contains 200000",
      },
    },
  ],
  ['a gateway', 400, { error: { code: 'model_max_prompt_tokens_exceeded', message: 'x' } }],
  ['Alibaba', 400, { error: { message: 'Range of input length should be [1, 129024]' } }],
  ['Zhipu', 400, { error: { code: '1261', message: 'Prompt exceeds max length' } }],
  ['a proxy', 413, '<html>413 Request Entity Too Large</html>'],
];
it.each(overflows)('reads a context that is too long: %s', (_name, status, body) => {
  expect(respond(status, body).kind).toBe('context_overflow');
});

const filtered: [string, number, unknown][] = [
  [
    'Azure',
    400,
    {
      error: {
        message:
          "The response was filtered due to the prompt triggering Azure OpenAI's content management policy.",
        code: 'content_filter',
        innererror: { code: 'ResponsibleAIPolicyViolation' },
      },
    },
  ],
  [
    'OpenAI',
    400,
    { error: { message: 'Invalid prompt: your prompt was flagged', code: 'invalid_prompt' } },
  ],
  ['DeepSeek', 400, { error: { message: 'Content Exists Risk' } }],
  [
    'Alibaba',
    400,
    {
      error: {
        message: 'Input data may contain inappropriate content.',
        code: 'data_inspection_failed',
      },
    },
  ],
  [
    'OpenRouter',
    403,
    { error: { message: 'Your input was flagged by the moderation', code: 403 } },
  ],
];
it.each(filtered)('reads a prompt that was filtered: %s', (_name, status, body) => {
  expect(respond(status, body).kind).toBe('content_filter');
});

it('separates outages from what would be refused again', () => {
  expect([500, 502, 503, 529, 408, 409].map((status) => respond(status, {}).kind)).toEqual(
    Array(6).fill('unavailable'),
  );
  expect([400, 401, 402, 403, 404, 422, 301].map((status) => respond(status, {}).kind)).toEqual(
    Array(7).fill('rejected'),
  );
  expect(respond(429, {}).kind).toBe('rate_limited');
  expect(
    respond(429, { error: { code: 'insufficient_quota', message: 'You exceeded your quota' } }),
  ).toMatchObject({
    kind: 'rejected',
    code: 'insufficient_quota',
  });
  const refused = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
  expect(readProviderError(refused)).toMatchObject({ kind: 'unavailable', code: 'ECONNREFUSED' });
  const failed = Object.assign(new TypeError('fetch failed'), {
    cause: { code: 'UND_ERR_SOCKET' },
  });
  expect(readProviderError(failed)).toMatchObject({
    kind: 'unavailable',
    detail: 'fetch failed (UND_ERR_SOCKET)',
  });
  expect(readProviderError(new UnreadableAnswer('cut')).kind).toBe('unavailable');
});

it('reads other names of quotas, and no filter in other errors', () => {
  expect(respond(429, { error: { type: 'exceeded_current_quota_error', message: 'x' } }).kind).toBe(
    'rejected',
  );
  expect(respond(401, { error: { message: 'Invalid key. See our usage policy.' } }).kind).toBe(
    'rejected',
  );
});

it('counts errors of our own, and of the client library, as no outage', () => {
  expect(readProviderError(new TypeError('x is not a function')).kind).toBe('rejected');
  expect(readProviderError(new Error('temperature is not supported by this model')).kind).toBe(
    'rejected',
  );
  expect(readProviderError(new AnswerTooLarge('9 MiB')).kind).toBe('rejected');
  expect(readProviderError('text')).toMatchObject({ kind: 'rejected', detail: 'text' });
  const invalid = Object.assign(new TypeError('Invalid URL'), { code: 'ERR_INVALID_URL' });
  expect(readProviderError(invalid).kind).toBe('rejected');
});

it('reads an error within an answer by its name or number', () => {
  const kind = (error: unknown) => readProviderError(faultOf(error)).kind;
  expect(kind({ type: 'overloaded_error', message: 'Overloaded' })).toBe('unavailable');
  expect(kind({ type: 'rate_limit_error', message: 'Slow down' })).toBe('rate_limited');
  expect(kind({ type: 'invalid_request_error', message: 'No' })).toBe('rejected');
  expect(kind({ type: 'BadRequestError', message: 'No' })).toBe('rejected');
  expect(kind({ code: 502, message: 'Provider returned error' })).toBe('unavailable');
  expect(kind({ code: '401', message: 'No auth' })).toBe('rejected');
  expect(kind({ code: 400, message: 'error', metadata: { raw: 'prompt is too long' } })).toBe(
    'context_overflow',
  );
  expect(kind({ status: 'RESOURCE_EXHAUSTED', message: 'Quota' })).toBe('rate_limited');
  expect(kind('the model runner has stopped')).toBe('unavailable');
});

it('keeps the text of every shape of a body', () => {
  const detailOf = (body: unknown) => respond(400, body).detail;
  expect(detailOf({ error: { message: 'no such parameter' } })).toBe('HTTP 400: no such parameter');
  expect(detailOf({ error: 'no such parameter' })).toBe('HTTP 400: no such parameter');
  expect(detailOf({ message: 'no such parameter' })).toBe('HTTP 400: no such parameter');
  expect(detailOf({ detail: 'no such parameter' })).toBe('HTTP 400: no such parameter');
  expect(detailOf([{ error: { message: 'no such parameter' } }])).toBe(
    'HTTP 400: no such parameter',
  );
  expect(detailOf('no such parameter')).toBe('HTTP 400: no such parameter');
  expect(detailOf('')).toBe('HTTP 400: no message');
  expect(detailOf('x'.repeat(10_000))).toHaveLength(500);
});

it('omits the links of providers', () => {
  const detailOf = (message: string) => readProviderError(new ProviderFault(message, 401)).detail;
  expect(
    detailOf(
      '401 Incorrect API key provided: sk-x. You can find your API key at https://platform.example.com/api-keys.\n\nTroubleshooting URL: https://docs.example.com/errors/MODEL_AUTHENTICATION/\n',
    ),
  ).toBe('HTTP 401: 401 Incorrect API key provided: sk-x.');
  expect(
    detailOf('You exceeded your quota. For more, read https://example.com/docs?x=1. Try later.'),
  ).toBe('HTTP 401: You exceeded your quota. Try later.');
  expect(detailOf('no server at http://127.0.0.1:11434')).toBe(
    'HTTP 401: no server at http://127.0.0.1:11434',
  );
});
