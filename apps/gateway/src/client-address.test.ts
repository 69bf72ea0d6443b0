import { request } from 'node:http';
import { keyLimitOf } from '@parley/service';
import {
  type TestGateway,
  type TestUpstream,
  startGateway,
  startRawUpstream,
} from './gateway-under-test';

/** The ingress and its clients, which reach it over a private network. */
const ingress = '127.0.0.2';
const privateClient = '127.0.0.3';

let service: TestUpstream;
let gateway: TestGateway;

beforeAll(async () => {
  const { addressOf } = keyLimitOf({ TRUSTED_PROXIES: [ingress], UNKNOWN_KEYS_PER_ADDRESS: 1 });
  service = await startRawUpstream((received, response) => response.end(addressOf(received)));
  gateway = await startGateway({ data: service.url }, { trusted: [ingress] });
});
afterAll(async () => {
  await gateway.close();
  await service.close();
});

/** The address that a service sees for a request, which `peer` sends to the gateway. */
const seenFor = (peer: string, headers: Record<string, string | string[]>): Promise<string> =>
  new Promise((resolve, reject) => {
    const url = `${gateway.url}/v1/data/order`;
    const sent = request(url, { localAddress: peer, headers }, async (response) => {
      let text = '';
      for await (const chunk of response) text += String(chunk);
      resolve(text);
    });
    sent.on('error', reject).end();
  });

it.each([
  ['its own', privateClient, {}, privateClient],
  ['its own, whatever it writes', privateClient, { 'X-Forwarded-For': '1.2.3.4' }, privateClient],
  ['the one that the ingress names', ingress, { 'X-Forwarded-For': '203.0.113.9' }, '203.0.113.9'],
  [
    'a private one that the ingress names',
    ingress,
    { 'X-Forwarded-For': '1.2.3.4, 10.1.2.3' },
    '10.1.2.3',
  ],
  [
    'one with a port',
    ingress,
    { 'X-Forwarded-For': '1.2.3.4, 203.0.113.12:40000' },
    '203.0.113.12',
  ],
  ['one in two headers', ingress, { 'X-Forwarded-For': ['1.2.3.4', '10.1.2.3'] }, '10.1.2.3'],
  [
    'the one of the ingress, when it names none',
    ingress,
    { 'X-Forwarded-For': '1.2.3.4, unknown' },
    ingress,
  ],
  [
    'the one of the ingress, when all is commas',
    ingress,
    { 'X-Forwarded-For': ','.repeat(10_000) },
    ingress,
  ],
  [
    'the one of the ingress, without the header',
    ingress,
    { Forwarded: 'for=1.2.3.4', 'X-Real-IP': '1.2.3.4' },
    ingress,
  ],
])('the address of a client is %s', async (_name, peer, headers, address) => {
  expect(await seenFor(peer, headers)).toBe(address);
});
