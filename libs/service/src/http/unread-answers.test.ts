import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, type Socket, connect } from 'node:net';
import { closeServer } from '../process/close-server';
import { createUnreadAnswers } from './unread-answers';
import type { HttpError } from './errors';

const mebibyte = 1_048_576;

test('answers that are not read are held up to the share of the organization, and others are answered', async () => {
  const unread = createUnreadAnswers({ maxBytes: 24 * mebibyte });
  const body = Buffer.alloc(4 * mebibyte);
  const server = createServer((request, response) => {
    try {
      unread.hold(response, request.url!, body.length);
      response.end(body);
    } catch (error) {
      response.writeHead((error as HttpError).status).end((error as HttpError).code);
    }
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const sockets: Socket[] = [];
  const begin = async (path: string) => {
    const socket = connect(port, '127.0.0.1');
    sockets.push(socket);
    socket.write(`GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`);
    const [piece] = (await once(socket, 'data')) as [Buffer];
    socket.pause();
    return piece.toString('latin1').slice(9, 12);
  };
  const statuses: string[] = [];
  for (let n = 0; n < 6; n += 1) statuses.push(await begin('/one'));
  expect(statuses).toEqual(['200', '200', '200', '200', '429', '429']);
  expect(await begin('/two')).toBe('200');
  for (const socket of sockets) socket.destroy();
  const { status } = await fetch(`http://127.0.0.1:${port}/one`).then(async (response) => {
    await response.arrayBuffer();
    return response;
  });
  expect(status).toBe(200);
  server.closeAllConnections();
  await closeServer(server);
});
