import assert from 'node:assert/strict';
import { createServer } from 'node:net';
import { test } from 'node:test';
import { checkPorts, refuseUnusablePorts } from './ports.mjs';
import { plannedServices } from './services.mjs';

test('a port in use is reported with the service, the process and free ports', async (t) => {
  const server = createServer();
  const port = await listenBelowEphemeralPorts(server);
  const services = [{ name: 'data', port, internalPort: port + 1 }];
  t.after(() => server.close());
  await assert.rejects(checkPorts(services, port), ({ message }) => {
    assert.match(message, new RegExp(`^Port ${port} \\(data\\) is in use`));
    if (process.platform === 'linux')
      assert.match(message, new RegExp(`\\(process ${process.pid}\\)`));
    assert.match(message, /npm start -- --port \d+$/);
    return true;
  });
  await new Promise((resolve) => server.close(resolve));
  await checkPorts(services, port);
});

/**
 * A port that the system gives to no connection, so that the one above it stays free, and that has
 * free ones for a proposal.
 */
async function listenBelowEphemeralPorts(server) {
  for (let port = 20_000 + Math.floor(Math.random() * 10_000); ; port += 7) {
    const isListening = await new Promise((resolve) => {
      server.once('error', () => resolve(false));
      server.listen(port, '127.0.0.1', () => resolve(true));
    });
    if (isListening) return port;
  }
}

function refusal(services, port) {
  try {
    refuseUnusablePorts(services, port);
    return null;
  } catch ({ message }) {
    return message;
  }
}

test('ports that browsers refuse are refused, also as the port of a service, with ports that can be used', () => {
  const refused = (port) => refusal(plannedServices(port), port);
  assert.equal(
    refused(6000),
    'Port 6000 (gateway) is one that browsers refuse to open. Use other ports: npm start -- --port 7000',
  );
  assert.match(refused(5057), /^Port 5060 \(webhook-ingest\) is one that browsers refuse/);
  assert.match(refused(6565), /^Port 6665 \(gateway, internal\).*|^Port 6566 \(data\)/);
  assert.match(
    refused(80),
    /^Port 81 \(data\) is below 1024, which needs special rights\..* --port 2000$/,
  );
  for (const port of [4000, 5000, 7000, 8000]) assert.equal(refused(port), null, String(port));
});

test("the list of refused ports is that of Node's fetch", async () => {
  const compare = async (port) => {
    const { cause } = await fetch(`http://127.0.0.1:${port}`, {
      signal: AbortSignal.timeout(1),
    }).catch((error) => error);
    const message = refusal([{ name: 'gateway', port, internalPort: 4100 }], port);
    assert.equal(message !== null, cause?.message === 'bad port', String(port));
  };
  const around = [1720, 2049, 3659, 4045, 4190, 5060, 6000, 6566, 6666, 6679, 6697, 10080];
  for (const middle of around)
    await Promise.all(Array.from({ length: 16 }, (_, at) => compare(middle - 8 + at)));
});
