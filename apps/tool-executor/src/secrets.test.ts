import { createServer } from 'node:http';
import { type TestExecutor, listen, startTestExecutor } from '../testing/start-test-executor';

let service: TestExecutor;
let calls: { tool: string; args: object }[];
const chat = createServer((request, response) => {
  let text = '';
  request.on('data', (chunk) => (text += chunk));
  request.on('end', () => {
    calls.push(JSON.parse(text));
    response
      .writeHead(200, { 'content-type': 'application/json' })
      .end('{"ok":true,"result":"called"}');
  });
});

beforeAll(async () => {
  service = await startTestExecutor({ chatUrl: await listen(chat) });
});
beforeEach(() => (calls = []));
afterAll(async () => {
  chat.close();
  await service.close();
});

const key = 'ck_live_9f2c"ä/+&';
const secrets = { CARRIER_KEY: key };
const run = (code: string, more: object = {}) => service.run(code, { secrets, ...more });

it('gives a handler its secrets, and none of them when the call has none', async () => {
  const code =
    'return [typeof context.secrets.CARRIER_KEY, (context.secrets.CARRIER_KEY ?? "").length]';
  expect((await run(code)).body.result).toEqual(['string', key.length]);
  expect((await service.run(code)).body.result).toEqual(['undefined', 0]);
  // A caller of the executor cannot replace them by data.
  const context = { secrets: { CARRIER_KEY: 'forged' } };
  expect((await service.run(code, { context })).body.result).toEqual(['undefined', 0]);
});

describe('a secret is replaced', () => {
  it.each([
    ['a string', 'return context.secrets.CARRIER_KEY', '[secret CARRIER_KEY]'],
    [
      'a part of a string',
      'return `Bearer ${context.secrets.CARRIER_KEY}.`',
      'Bearer [secret CARRIER_KEY].',
    ],
    [
      'each of several',
      'const k = context.secrets.CARRIER_KEY; return k + k',
      '[secret CARRIER_KEY][secret CARRIER_KEY]',
    ],
    [
      'inside of objects and lists',
      'return { a: [{ b: context.secrets }] }',
      { a: [{ b: { CARRIER_KEY: '[secret CARRIER_KEY]' } }] },
    ],
    ['a key', 'return { [context.secrets.CARRIER_KEY]: 1 }', { '[secret CARRIER_KEY]': 1 }],
    [
      'JSON text',
      'return JSON.stringify(context.secrets)',
      '{"CARRIER_KEY":"[secret CARRIER_KEY]"}',
    ],
    [
      'an address',
      'return `https://a.example/?k=${encodeURIComponent(context.secrets.CARRIER_KEY)}`',
      'https://a.example/?k=[secret CARRIER_KEY]',
    ],
    [
      'a path',
      'return new URL("https://a.example/" + context.secrets.CARRIER_KEY).href',
      'https://a.example/[secret CARRIER_KEY]',
    ],
    [
      'a part of a query',
      'return new URL("https://a.example/?k=" + context.secrets.CARRIER_KEY).href',
      'https://a.example/?k=[secret CARRIER_KEY]',
    ],
    [
      'a password',
      'const u = new URL("https://u@a.example"); u.password = context.secrets.CARRIER_KEY; return u.href',
      'https://u:[secret CARRIER_KEY]@a.example/',
    ],
    [
      'a query',
      'return String(new URLSearchParams({ k: context.secrets.CARRIER_KEY }))',
      'k=[secret CARRIER_KEY]',
    ],
  ])('in a result that has it as %s', async (_form, code, result) => {
    expect((await run(code)).body.result).toEqual(result);
  });

  it('in a number', async () => {
    expect((await run('return [4711123, 5]', { secrets: { PIN: '4711' } })).body.result).toEqual([
      '[secret PIN]123',
      5,
    ]);
  });

  it('in the console', async () => {
    const code = `console.log('key', context.secrets.CARRIER_KEY); console.warn(context); console.error(new Error(context.secrets.CARRIER_KEY))`;
    const { body } = await run(code);
    expect(JSON.stringify(body.logs)).not.toContain('9f2c');
    expect(body.logs).toMatchObject([
      { message: 'key [secret CARRIER_KEY]' },
      { message: expect.stringContaining('"[secret CARRIER_KEY]"') },
      { message: expect.stringContaining('Error: [secret CARRIER_KEY]') },
    ]);
  });

  it.each([
    'throw new Error("refused: " + context.secrets.CARRIER_KEY)',
    'throw context.secrets.CARRIER_KEY',
    'throw { key: context.secrets.CARRIER_KEY }',
    'const e = new Error("x"); e.name = context.secrets.CARRIER_KEY; throw e',
    'await fetch("http://127.0.0.1/?key=" + context.secrets.CARRIER_KEY)',
    'await fetch("https://a.example", { method: context.secrets.CARRIER_KEY })',
  ])('in the error of %s', async (code) => {
    const { body } = await run(code);
    expect(body.error).toEqual(expect.any(String));
    expect(JSON.stringify(body)).not.toContain('9f2c');
  });

  it('where its end is cut off, in the console and in an error', async () => {
    const long = { LONG: `${'abcdefghij'.repeat(800)}` };
    for (const code of [
      'console.log("x".repeat(1000) + context.secrets.LONG + "x".repeat(900) + context.secrets.LONG)',
      'throw new Error(context.secrets.LONG + "x".repeat(5000) + context.secrets.LONG)',
    ]) {
      const { body } = await run(code, { secrets: long });
      expect(body.logs ?? body.error).toBeDefined();
      expect(JSON.stringify(body)).not.toContain('abcd');
    }
  });

  it.each([
    'new URL(context.secrets.LONG)',
    'structuredClone(Symbol(context.secrets.LONG))',
    'JSON.parse(context.secrets.LONG)',
    'undefined[context.secrets.LONG] = 1',
    'try { JSON.parse(context.secrets.LONG) } catch (error) { console.log(error); console.log(error.message); throw error }',
  ])('where the engine cuts it in the error of %s', async (code) => {
    const { body } = await run(code, { secrets: { LONG: 'abcdefghij'.repeat(30) } });
    expect(body.error).toEqual(expect.any(String));
    expect(JSON.stringify(body)).not.toContain('abcd');
  });

  it('where one contains another, and where a name contains a value', async () => {
    const nested = { SHORT: 'abcd', LONGER: 'xabcdx', NAME: 'LONGER' };
    expect((await run('return "xabcdx abcd LONGER"', { secrets: nested })).body.result).toBe(
      '[secret LONGER] [secret SHORT] [secret NAME]',
    );
  });
});

it('limits the size of a result after the replacement, not the process', async () => {
  const secrets = { ['N'.repeat(64)]: 'aaaa' };
  const { status, body } = await run('return "a".repeat(900000)', { secrets, timeoutMs: 5_000 });
  expect([status, body.error]).toEqual([200, 'The result is larger than 1048576 bytes']);
  expect((await run('return 1')).body.result).toBe(1);
});

it('does not send a secret to a tool, except web.fetch', async () => {
  const callback = { token: 'token' };
  for (const call of [
    `parley.entity.create({ type: 'note', data: { [context.secrets.CARRIER_KEY]: 1 } })`,
    `parley.event.emit({ type: 'x', payload: { deep: [{ key: 'a' + context.secrets.CARRIER_KEY }] } })`,
    `parley.shop.other({ key: context.secrets.CARRIER_KEY })`,
  ]) {
    const { body } = await run(`return await ${call}`, { callback });
    expect(body.error).toMatch(
      /^The arguments of \w+\.\w+ contain the secret CARRIER_KEY\. Only web\.fetch may get it$/,
    );
  }
  expect(calls).toEqual([]);
  const headers = 'headers: { authorization: context.secrets.CARRIER_KEY }';
  expect(
    (await run(`return parley.web.fetch({ url: 'https://a.example', ${headers} })`, { callback }))
      .body.result,
  ).toBe('called');
  expect(calls).toMatchObject([{ tool: 'web.fetch', args: { headers: { authorization: key } } }]);
});

it('does not keep secrets for the next run of the same process', async () => {
  await run('globalThis.kept = context.secrets; return 1');
  for (let index = 0; index < 4; index++)
    expect((await service.run('return [typeof kept, context.secrets]')).body.result).toEqual([
      'undefined',
      {},
    ]);
});

it.each([
  [{ A: 'x'.repeat(8_193) }],
  [Object.fromEntries(Array.from({ length: 21 }, (_, index) => [`S${index}`, 'value']))],
])('refuses more or larger secrets than a tool may have', async (given) => {
  const { status, body } = await run('return 1', { secrets: given });
  expect(status).toBe(400);
  expect(JSON.stringify(body)).not.toContain('xxx');
});
