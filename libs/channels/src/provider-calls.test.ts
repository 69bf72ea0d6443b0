import { type RequestListener, type Server, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
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

test('a redirect is not followed, so the key stays here, and the reason is said', async () => {
  const asked: string[] = [];
  const elsewhere = await serve((request, response) => {
    asked.push(String(request.headers['x-api-key']));
    response.end('{"data":{}}');
  });
  const url = await serve((_, response) => response.writeHead(307, { Location: elsewhere }).end());
  const kapso = createKapsoClient({ apiUrl: url, apiKey: 'secret' });
  expect(await kapso.getPhoneNumber('1')).toMatchObject({
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
