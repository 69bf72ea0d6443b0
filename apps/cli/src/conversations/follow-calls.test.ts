import { once } from 'node:events';
import { type AddressInfo, type Socket, createServer } from 'node:net';
import { followCalls } from './follow-calls';

test('the end does not wait for a database that accepts connections and does not answer', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const before = process.env.DATABASE_URL;
  process.env.DATABASE_URL = `postgres://u:p@127.0.0.1:${(server.address() as AddressInfo).port}/x`;
  try {
    const stop = followCalls(`sk_dev_${'a'.repeat(43)}`, 'Hello', { started: () => {}, ended: () => {} });
    const [socket] = (await once(server, 'connection')) as [Socket];
    socket.on('error', () => {});
    expect(stop()).toEqual(new Map());
    socket.destroy();
  } finally {
    if (before === undefined) delete process.env.DATABASE_URL;
    else process.env.DATABASE_URL = before;
    server.close();
  }
});
