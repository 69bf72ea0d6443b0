import { once } from 'node:events';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onClosed } from './on-closed';

const nextTurn = () => new Promise((resolve) => setImmediate(resolve));

test('the function runs once, whether the connection closes before or after the call', async () => {
  const ran: string[] = [];
  const server = createServer(async (_request, response) => {
    onClosed(response, () => ran.push('registered while it was open'));
    await once(response, 'close');
    onClosed(response, () => ran.push('registered afterwards'));
    server.emit('handled');
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const handled = once(server, 'handled');
  const client = request({ port: (server.address() as AddressInfo).port }).on('error', () => {});
  client.end();
  await once(server, 'request');
  client.destroy();
  await handled;
  await nextTurn();
  expect(ran).toEqual(['registered while it was open', 'registered afterwards']);
  server.close();
});
