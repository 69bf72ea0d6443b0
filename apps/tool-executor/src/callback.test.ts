import { type IncomingMessage, type Server, type ServerResponse, createServer } from 'node:http';
import { type ToolCallbackBody, toolCallbackBodySchema } from '@parley/contracts';
import { until } from '@parley/testing';
import { type TestExecutor, listen, startTestExecutor } from '../testing/start-test-executor';

/** Serves chat's endpoint for tool calls, and a site that handlers fetch. */
let chat: Server;
let chatUrl: string;
let service: TestExecutor;
const calls: { url?: string; headers: IncomingMessage['headers']; body: ToolCallbackBody }[] = [];
let open = 0;
let mostOpen = 0;

beforeAll(async () => {
  chat = createServer(async (request, response) => {
    open++;
    mostOpen = Math.max(mostOpen, open);
    response.once('close', () => open--);
    let text = '';
    for await (const chunk of request) text += String(chunk);
    if (request.url?.startsWith('/site')) return site(request, response, text);
    const body = toolCallbackBodySchema.parse(JSON.parse(text));
    calls.push({ url: request.url, headers: request.headers, body });
    tool(request, response, body);
  });
  chatUrl = await listen(chat);
  service = await startTestExecutor({ chatUrl, allowedPrivateHosts: [new URL(chatUrl).host] });
});
afterAll(async () => {
  await service.close();
  chat.closeAllConnections();
  chat.close();
});
beforeEach(() => {
  calls.length = 0;
  mostOpen = 0;
});

function tool(
  request: IncomingMessage,
  response: ServerResponse,
  { tool: name, args }: ToolCallbackBody,
): void {
  const send = (status: number, body: unknown) =>
    response.writeHead(status).end(JSON.stringify(body));
  if (request.headers.authorization !== 'Bearer call-token')
    return void send(401, { error: 'Unauthorized' });
  if (name === 'slow') return;
  if (name === 'denied') {
    return void send(200, {
      ok: false,
      error: "Permission denied: cannot perform 'read' on 'x'",
      errorType: 'permission_denied',
    });
  }
  if (name === 'strange') return void send(200, { hello: 1 });
  if (name === 'broken') return void response.destroy();
  if (name === 'nothing') return void send(200, { ok: true });
  setTimeout(() => send(200, { ok: true, result: { name, args } }), 10);
}

function site(request: IncomingMessage, response: ServerResponse, text: string): void {
  if (request.url === '/site/slow') return;
  if (request.url === '/site/bytes') return void response.end(Buffer.from([0, 1, 254, 255]));
  if (request.url === '/site/large')
    return void response.end(Buffer.alloc(2 * 1024 * 1024 + 1, 97));
  if (request.url === '/site/2mb') return void response.end(Buffer.alloc(2 * 1024 * 1024, 97));
  if (request.url === '/site/inside')
    return void response.writeHead(302, { location: 'http://169.254.169.254/' }).end();
  response.writeHead(request.url === '/site/404' ? 404 : 200, {
    'content-type': 'application/json',
    'x-a': 'b',
  });
  response.end(JSON.stringify({ method: request.method, headers: request.headers, text }));
}

const run = (code: string, more: object = {}) =>
  service.run(code, {
    timeoutMs: 2000,
    callback: { token: 'call-token' },
    args: { site: `${chatUrl}/site` },
    ...more,
  });

describe('parley', () => {
  it('calls tools through chat with the token of the call', async () => {
    const answer = await run('return await parley.entity.query({ type: "order" })');
    expect(answer.body.result).toEqual({ name: 'entity.query', args: { type: 'order' } });
    expect(calls[0]).toMatchObject({
      url: '/internal/tool-calls',
      headers: { authorization: 'Bearer call-token', 'content-type': 'application/json' },
      body: { tool: 'entity.query', args: { type: 'order' }, depth: 1 },
    });
    expect(calls[0]!.headers['x-request-id']).toBe(answer.headers.get('x-request-id'));
  });

  it.each([
    ['return await parley.orders.refund.now()', 'orders.refund.now'],
    ['const { query } = parley.entity; return await query()', 'entity.query'],
    ['return await parley["my-tool"]({})', 'my-tool'],
  ])('%s', async (code, name) => {
    expect((await run(code)).body.result).toEqual({ name, args: {} });
  });

  it.each([
    [
      'try { await parley.denied({}) } catch (e) { return [e.name, e.errorType, e.message] }',
      ['ToolError', 'permission_denied', "Permission denied: cannot perform 'read' on 'x'"],
    ],
    [
      'try { await parley.strange({}) } catch (e) { return e.message }',
      'The answer to the tool call is not valid',
    ],
    ['try { await parley.broken({}) } catch (e) { return e.message }', 'The tool call failed'],
    [
      'try { await parley.a.b([1]) } catch (e) { return e.message }',
      'A tool takes an object of arguments',
    ],
    [
      'try { await parley["../admin"]({}) } catch (e) { return e.message }',
      'A tool takes an object of arguments',
    ],
    [
      'return [await parley.nothing({}), typeof parley, await parley.x.y === parley.x.y]',
      [null, 'object', true],
    ],
  ])('%s', async (code, result) => {
    const { body } = await run(code);
    expect(body.result ?? body.error).toEqual(result);
  });

  it('is refused without a callback, and at the maximum depth', async () => {
    const code = 'try { await parley.a({}) } catch (e) { return e.message }';
    expect((await run(code, { callback: undefined })).body.result).toBe(
      'Tools cannot be called from here',
    );
    expect(
      (await run(code, { callback: { token: 'call-token', depth: 4 } })).body.result,
    ).toBeNull();
    expect(calls.at(-1)!.body.depth).toBe(5);
    expect((await run(code, { callback: { token: 'call-token', depth: 5 } })).body.result).toBe(
      'Tools may call each other 5 deep',
    );
    expect(calls).toHaveLength(1);
  });

  it('keeps the token out of the sandbox, and a forged one is refused', async () => {
    const code = `
      const seen = JSON.stringify([args, context, Object.getOwnPropertyNames(globalThis), String(parley.a)]);
      const forged = await fetch(args.site.replace('/site', '/internal/tool-calls'), {
        method: 'POST', body: JSON.stringify({ tool: 'x', args: {}, depth: 1 }) }).then((r) => r.status, String);
      return [seen.includes('call-token'), forged]`;
    expect((await run(code, { context: { who: 'me' } })).body.result).toEqual([
      false,
      expect.anything(),
    ]);
    expect(
      (await run('return await parley.a({})', { callback: { token: 'forged' } })).body.error,
    ).toBe('The tool call was refused (401)');
  });

  it('sends at most 8 calls at the same time and answers all', async () => {
    const answer = await run(
      'return (await Promise.all(Array.from({ length: 40 }, (_, n) => parley.t({ n })))).map((r) => r.args.n)',
    );
    expect(answer.body.result).toEqual(Array.from({ length: 40 }, (_, n) => n));
    expect(mostOpen).toBeLessThanOrEqual(8);
    const flood = await run('await Promise.all(Array.from({ length: 65 }, () => parley.t({})))');
    expect(flood.body.error).toBe('Too many requests');
  });

  it('ends at the time limit while a tool does not answer, and closes the connection', async () => {
    const answer = await run('await parley.slow({})', { timeoutMs: 200 });
    expect(answer).toMatchObject({ status: 500, body: { error: 'Execution time exceeded' } });
    expect(answer.durationMs).toBeLessThan(10_000);
    await until(() => open === 0);
  });
});

describe('fetch', () => {
  it('sends and receives as the web API does', async () => {
    const code = `
      const r = await fetch(args.site + '/x', { method: 'post', headers: { 'X-One': '1', Host: 'evil' }, body: JSON.stringify({ a: 'ä' }) });
      const body = await r.json();
      return [r.ok, r.status, r.headers.get('X-A'), r.url === args.site + '/x', r.redirected, body.method, body.headers['x-one'], body.text]`;
    expect((await run(code)).body.result).toEqual([
      true,
      200,
      'b',
      true,
      false,
      'POST',
      '1',
      '{"a":"ä"}',
    ]);
  });

  it.each<[string, unknown]>([
    ['const r = await fetch(args.site + "/404"); return [r.ok, r.status]', [false, 404]],
    [
      'return [...new Uint8Array(await (await fetch(args.site + "/bytes")).arrayBuffer())]',
      [0, 1, 254, 255],
    ],
    [
      'const r = await fetch(args.site, { method: "PUT", body: new URLSearchParams({ a: "b c" }) }); const b = await r.json(); return [b.text, b.headers["content-type"]]',
      ['a=b+c', 'application/x-www-form-urlencoded;charset=UTF-8'],
    ],
    [
      'const r = await fetch(args.site, { method: "POST", body: new Uint8Array([104, 105]) }); return (await r.json()).text',
      'hi',
    ],
    ['return (await (await fetch(args.site + "/2mb")).text()).length', 2 * 1024 * 1024],
    [
      'const r = await fetch(new URL(args.site)); await r.text(); return await r.text().catch((e) => e.name)',
      'TypeError',
    ],
    [
      'const c = new AbortController(); setTimeout(() => c.abort(), 20); return await fetch(args.site + "/slow", { signal: c.signal }).catch((e) => e.name)',
      'AbortError',
    ],
    [
      'return await fetch(args.site + "/slow", { signal: AbortSignal.timeout(20) }).catch((e) => e.name)',
      'TimeoutError',
    ],
    [
      'return await fetch(args.site, { signal: AbortSignal.abort() }).catch((e) => e.name)',
      'AbortError',
    ],
    [
      'return await fetch(args.site, { body: "x" }).catch((e) => e.message)',
      'A GET or HEAD request has no body',
    ],
    [
      'return await fetch(args.site + "/large").catch((e) => [e.name, e.message])',
      ['TypeError', 'fetch failed: The answer is larger than 2097152 bytes'],
    ],
    [
      'return await fetch(args.site, { method: "POST", body: "x".repeat(2097153) }).catch((e) => e.message)',
      'A body may have 2097152 bytes',
    ],
    [
      'return await fetch(args.site, { headers: { "a\\nb": "c" } }).catch((e) => e.message)',
      'fetch failed: Invalid header name or value',
    ],
    [
      'return await fetch(args.site + "/inside").catch((e) => e.message)',
      'fetch failed: Address not allowed: 169.254.169.254 is not on the public internet',
    ],
    [
      'return await fetch("http://localhost/").catch((e) => e.message)',
      'fetch failed: Address not allowed: localhost is not on the public internet',
    ],
    [
      'return await fetch("file:///etc/passwd").catch((e) => e.message)',
      'fetch failed: Only http and https addresses are allowed',
    ],
    ['return await fetch("nonsense").catch((e) => e.message)', 'fetch failed: Invalid URL'],
  ])('%s', async (code, result) => {
    const { body } = await run(code);
    expect(body.result ?? body.error).toEqual(result);
  });

  it('reports in which line of the handler it failed, as tools do', async () => {
    expect((await run('const url = "http://localhost/";\n\nawait fetch(url)')).body).toMatchObject({
      error: expect.stringContaining('fetch failed'),
      errorName: 'TypeError',
      line: 3,
    });
    expect(
      (await run('const call = async () => {\n  await parley.denied({});\n};\nawait call()')).body,
    ).toMatchObject({
      error: expect.stringContaining('Permission denied'),
      errorName: 'ToolError',
      line: 2,
    });
  });

  it('is limited to allowedHosts', async () => {
    const code = 'return await fetch(args.site).then((r) => r.status, (e) => e.message)';
    expect((await run(code, { allowedHosts: ['127.0.0.1'] })).body.result).toBe(200);
    expect((await run(code, { allowedHosts: ['api.example.com'] })).body.result).toBe(
      'fetch failed: Host not in allowedHosts: 127.0.0.1',
    );
    expect((await run(code, { allowedHosts: [] })).body.result).toBe(
      'fetch failed: Host not in allowedHosts: 127.0.0.1',
    );
  });

  it('delivers no answer of one call to the next', async () => {
    for (let round = 0; round < 10; round++) {
      await run('fetch(args.site); parley.a({ mine: 1 }); return 1');
      const code =
        'const answers = []; const wait = () => new Promise((r) => setTimeout(r, 20)); parley.b({ other: 2 }).then((r) => answers.push(r.name)); while (answers.length === 0) await wait(); await wait(); return answers';
      expect((await run(code)).body.result).toEqual(['b']);
    }
  });
});
