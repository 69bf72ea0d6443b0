import { createClient } from './client';
import { shared } from './stack';

const client = createClient(shared.url, shared.executorToken);
const run = (handlerCode: string, rest: object = {}) =>
  client.post('/execute', { handlerCode, args: {}, ...rest });

describe('POST /execute', () => {
  it('answers 200 with the result', async () => {
    const { status, body } = await run('return { sum: args.a + args.b }', { args: { a: 2, b: 3 } });
    expect(status).toBe(200);
    expect(body).toEqual({ result: { sum: 5 }, _meta: { durationMs: expect.any(Number) } });
  });

  it('answers 200 with { error } when the handler throws', async () => {
    const { status, body } = await run('throw new Error("no stock")');
    expect([status, body.error]).toEqual([200, 'no stock']);
    expect(body).not.toHaveProperty('result');
  });

  it.each([
    {},
    { args: {} },
    { handlerCode: '', args: {} },
    { handlerCode: 5, args: {} },
    { handlerCode: 'x', args: [] },
  ])('answers 400 to %j', async (body) => {
    const answer = await client.post('/execute', body);
    expect([answer.status, typeof answer.body.error]).toEqual([400, 'string']);
  });

  it('answers 500 when the time is exceeded', async () => {
    const { status, body } = await run('while (true) {}', { timeoutMs: 100 });
    expect([status, body.error]).toEqual([500, 'Execution time exceeded']);
  });
});

describe('POST /validate', () => {
  it('answers { valid: true } to valid code', async () => {
    const { status, body } = await client.post('/validate', {
      handlerCode: 'const n: number = 1; return n',
    });
    expect([status, body]).toEqual([200, { valid: true }]);
  });

  it('answers { valid: false, error } to a syntax error', async () => {
    const { status, body } = await client.post('/validate', { handlerCode: 'return {' });
    expect([status, body.valid]).toEqual([200, false]);
    expect(body.error).toMatch(/.+/);
  });
});

it.each(['/execute', '/validate'])('%s requires the token', async (path) => {
  const body = { handlerCode: 'return 1', args: {} };
  for (const anonymous of [createClient(shared.url), createClient(shared.url, 'wrong')]) {
    expect((await anonymous.post(path, body)).status).toBe(401);
  }
});
