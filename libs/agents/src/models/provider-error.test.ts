import { readProviderError } from './provider-error';

const now = new Date('2026-01-01T00:00:00Z');
const read = (fields: object) => readProviderError(Object.assign(new Error('it failed'), fields), now);

it('reads Retry-After in every form', () => {
  const after = (headers: Record<string, string>) => read({ status: 429, headers: new Headers(headers) }).retryAfterMs;
  expect(after({ 'retry-after': '7' })).toBe(7_000);
  expect(after({ 'retry-after': '0.5' })).toBe(500);
  expect(after({ 'retry-after-ms': '250', 'retry-after': '9' })).toBe(250);
  expect(after({ 'retry-after': 'Thu, 01 Jan 2026 00:00:03 GMT' })).toBe(3_000);
  expect(after({ 'retry-after': 'Thu, 01 Jan 2020 00:00:00 GMT' })).toBe(0);
  expect(after({ 'retry-after': 'soon' })).toBeUndefined();
  expect(after({})).toBeUndefined();
  expect(read({ status: 429, errorDetails: [{ '@type': 'x' }, { retryDelay: '12s' }] }).retryAfterMs).toBe(12_000);
});

it('separates errors that may be retried from others', () => {
  expect(read({ status: 500 }).kind).toBe('unavailable');
  expect(read({ status_code: 503 }).kind).toBe('unavailable');
  expect(read({ cause: { code: 'ECONNREFUSED' } })).toMatchObject({
    kind: 'unavailable',
    detail: 'it failed (ECONNREFUSED)',
  });
  expect(read({ status: 429 }).kind).toBe('rate_limited');
  expect(read({ status: 401 }).kind).toBe('rejected');
  expect(read({ name: 'TimeoutError' }).kind).toBe('timeout');
  expect(read({ status: 400, message: 'prompt is too long: 210000 tokens' }).kind).toBe('context_overflow');
  expect(readProviderError('text')).toMatchObject({ kind: 'unavailable', detail: 'text' });
});

it('omits the links of providers and libraries', () => {
  const detailOf = (message: string) => read({ status: 401, message }).detail;
  expect(
    detailOf(
      '401 Incorrect API key provided: sk-x. You can find your API key at https://platform.example.com/api-keys.\n\nTroubleshooting URL: https://docs.example.com/errors/MODEL_AUTHENTICATION/\n',
    ),
  ).toBe('HTTP 401: 401 Incorrect API key provided: sk-x.');
  expect(detailOf('You exceeded your quota. For more, read https://example.com/docs?x=1. Try later.')).toBe(
    'HTTP 401: You exceeded your quota. Try later.',
  );
  expect(detailOf('no server at http://127.0.0.1:11434')).toBe('HTTP 401: no server at http://127.0.0.1:11434');
});
