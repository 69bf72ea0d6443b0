import { type RequestListener, type Server, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { callHttp } from './http-call';
import { createKapsoClient } from './kapso/kapso-client';
import { testAccount } from './test-account';

const servers: Server[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
});

async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const call = (url: string, timeoutMs = 10_000) =>
  callHttp({ method: 'GET', url, headers: { 'X-API-Key': 'secret' }, timeoutMs });

test('JSON comes with its status, and how long to wait', async () => {
  const url = await serve((_, response) => response.writeHead(429, { 'Retry-After': '2' }).end('{"a":1}'));
  expect(await call(url)).toEqual({ kind: 'answer', status: 429, body: { a: 1 }, retryAfterMs: 2_000 });
});

test('an answer without end is given up at 5 MiB, and may have been an effect', async () => {
  let sent = 0;
  const url = await serve((_, response) => {
    const chunk = Buffer.alloc(256 * 1024, ' ');
    const more = (): void => {
      while (!response.destroyed && response.write(chunk)) sent += chunk.length;
    };
    response.writeHead(200).on('drain', more);
    more();
  });
  expect(await call(url)).toEqual({ kind: 'no_answer', message: 'the answer is longer than 5242880 bytes' });
  expect(sent).toBeLessThan(64 * 1024 * 1024);
  const large = await serve((_, response) => response.end(JSON.stringify({ data: 'x'.repeat(4 * 1024 * 1024) })));
  expect(await call(large)).toMatchObject({ kind: 'answer', status: 200 });
});

test('a redirect is not followed, so the key stays here, and the reason is said', async () => {
  const asked: string[] = [];
  const elsewhere = await serve((request, response) => {
    asked.push(String(request.headers['x-api-key']));
    response.end('{"data":{}}');
  });
  const url = await serve((_, response) => response.writeHead(307, { Location: elsewhere }).end());
  expect(await call(url)).toMatchObject({ kind: 'answer', status: 307 });
  expect(await createKapsoClient({ apiUrl: url, apiKey: 'secret' }).getPhoneNumber('1')).toMatchObject({
    ok: false,
    reason: 'refused',
    message: '307: the address answers with a redirect, which is not followed',
  });
  expect(await testAccount('kapso', { config: { apiUrl: url }, secrets: { apiKey: 'secret' } })).toEqual({
    ok: false,
    message: `${url}/platform/v1/customers: the address answers with a redirect, which is not followed`,
  });
  expect(asked).toEqual([]);
});

test('an answer that drips is ended by the time limit', async () => {
  const url = await serve((_, response) => {
    const timer = setInterval(() => response.write(' '), 20);
    response.on('close', () => clearInterval(timer));
  });
  expect(await call(url, 300)).toEqual({ kind: 'no_answer', message: 'no answer within 300 ms' });
});
