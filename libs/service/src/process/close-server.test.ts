import { type Server, Agent, createServer, get } from 'node:http';
import { type AddressInfo } from 'node:net';
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { closeServer } from './close-server';

const agent = new Agent({ keepAlive: true });
afterEach(() => agent.destroy());

const call = async (server: Server) => {
  const request = get({ port: (server.address() as AddressInfo).port, agent });
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  return { response, text: (await response.toArray()).join('') };
};

it('waits for a running request and not for its kept-alive connection', async () => {
  const arrived = Promise.withResolvers<ServerResponse>();
  const server = createServer((_request, response) => arrived.resolve(response)).listen(0);
  const calling = call(server);
  const response = await arrived.promise;
  const closed = closeServer(server);
  response.end('done');
  expect((await calling).text).toBe('done');
  await closed;
});

it('closes idle connections immediately', async () => {
  const server = createServer((_request, response) => response.end('done')).listen(0);
  await call(server);
  await closeServer(server);
});

it('answers further requests with Connection: close', async () => {
  const arrived = Promise.withResolvers<ServerResponse>();
  const server = createServer((_request, response) => arrived.resolve(response)).listen(0);
  const { port } = server.address() as AddressInfo;
  const pipelined = await new Promise<string>((resolve) => {
    const text = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n';
    void import('node:net').then(({ connect }) => {
      let received = '';
      const socket = connect(port, '127.0.0.1', () => socket.write(text));
      socket.on('data', (chunk) => (received += chunk));
      socket.on('close', () => resolve(received));
      void arrived.promise.then((first) => {
        void closeServer(server);
        server.prependOnceListener('request', (_request, second) =>
          setImmediate(() => second.end('second')),
        );
        socket.write(text, () => setTimeout(() => first.end('first'), 50));
      });
    });
  });
  expect(pipelined).toMatch(/first[\s\S]*Connection: close[\s\S]*second$/);
});
