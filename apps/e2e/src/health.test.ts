import { createClient } from './client';
import { shared } from './stack';

const anonymous = createClient(shared.url);

describe('GET /health', () => {
  it('answers { status, timestamp } without a key', async () => {
    const { status, headers, body } = await anonymous.get('/health');
    expect(status).toBe(200);
    expect(headers.get('content-type')).toMatch(/^application\/json/);
    expect(body).toEqual({ status: 'ok', timestamp: expect.any(Number) });
    expect(Math.abs(body.timestamp - Date.now())).toBeLessThan(10_000);
  });

  it('ignores an invalid key', async () => {
    expect((await createClient(shared.url, 'nonsense').get('/health')).status).toBe(200);
  });
});

describe('what is not served', () => {
  it.each([
    '/',
    '/v1',
    '/v2/data/x',
    '/metrics',
    '/readyz',
    '/internal/tool-calls',
    '/v1/data/..%2f..%2freadyz',
  ])('%s is answered with 404 in JSON', async (path) => {
    const { status, headers, body } = await anonymous.get(path);
    expect(status).toBe(404);
    expect(body).toEqual({
      error: expect.stringMatching(/.+/),
      code: 'unknown_path',
      requestId: headers.get('x-request-id'),
    });
  });

  it('no path answers with a stream of events', async () => {
    const { headers } = await anonymous.send('GET', '/v1/chat', undefined, {
      Accept: 'text/event-stream',
    });
    expect(headers.get('content-type')).toMatch(/^application\/json/);
  });
});

describe('request ids', () => {
  it('are passed to the service behind when valid, and generated otherwise', async () => {
    const kept = await anonymous.get('/v1/entity-types', { 'X-Request-Id': 'my-trace-7' });
    expect(kept.headers.get('x-request-id')).toBe('my-trace-7');
    expect(kept.body.requestId).toBe('my-trace-7');
    const made = await anonymous.get('/v1/entity-types', { 'X-Request-Id': '<script>' });
    expect(made.body.requestId).toMatch(/^[0-9a-f-]{36}$/);
    expect(made.headers.get('x-request-id')).toBe(made.body.requestId);
  });
});
