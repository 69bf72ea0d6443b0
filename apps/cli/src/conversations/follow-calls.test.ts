import { once } from 'node:events';
import { type AddressInfo, type Socket, createServer } from 'node:net';
import { followCalls } from './follow-calls';

test('the end does not wait for a server that accepts connections and does not answer', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    const address = {
      url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      key: 'sk_dev_x',
    };
    const stop = followCalls(address, 'Hello', { started: () => {}, ended: () => {} });
    const [socket] = (await once(server, 'connection')) as [Socket];
    socket.on('error', () => {});
    expect(stop()).toEqual(new Map());
    await once(socket, 'close');
  } finally {
    server.close();
  }
});
