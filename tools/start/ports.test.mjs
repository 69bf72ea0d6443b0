import assert from 'node:assert/strict';
import { createServer } from 'node:net';
import { test } from 'node:test';
import { checkPorts } from './ports.mjs';

test('a port in use is reported with the service, the process and free ports', async (t) => {
  const server = createServer();
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address();
  const services = [{ name: 'data', port, internalPort: port + 1 }];
  t.after(() => server.close());
  await assert.rejects(checkPorts(services, port), ({ message }) => {
    assert.match(message, new RegExp(`^Port ${port} \\(data\\) is in use`));
    if (process.platform === 'linux') assert.match(message, new RegExp(`\\(process ${process.pid}\\)`));
    assert.match(message, /npm start -- --port \d+$/);
    return true;
  });
  await new Promise((resolve) => server.close(resolve));
  await checkPorts(services, port);
});
