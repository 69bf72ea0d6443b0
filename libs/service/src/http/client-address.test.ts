import type { IncomingMessage } from 'node:http';
import { createClientAddress } from './client-address';

const addressOf = (peer: string, forwarded?: string, trusted: string[] = []) =>
  createClientAddress(trusted)({
    socket: { remoteAddress: peer },
    headers: forwarded === undefined ? {} : { 'x-forwarded-for': forwarded },
  } as unknown as IncomingMessage);

it.each([
  ['a peer without a proxy', '203.0.113.9', undefined, '203.0.113.9'],
  ['a peer that is no proxy, whatever it writes', '203.0.113.9', '1.2.3.4', '203.0.113.9'],
  ['the peer of the gateway', '127.0.0.1', '203.0.113.9', '203.0.113.9'],
  ['the peer of the gateway, not what the client wrote', '10.0.0.7', '1.2.3.4, 203.0.113.9', '203.0.113.9'],
  ['a client of the private network', '10.0.0.7', '192.168.1.5', '192.168.1.5'],
  ['a client behind an ingress and the gateway', '10.0.0.7', '203.0.113.9, 10.0.0.8', '203.0.113.9'],
  ['the last proxy when the next address cannot be read', '10.0.0.7', 'unknown, 10.0.0.8', '10.0.0.8'],
  ['an IPv4 address in IPv6 form', '::ffff:10.0.0.7', '::ffff:203.0.113.9', '203.0.113.9'],
  ['the network of an IPv6 address', '10.0.0.7', '2001:db8:1:2:3:4:5:6', '8193:3512:1:2/64'],
  ['no address after the connection has closed', '', undefined, ''],
])('the client is %s', (_name, peer, forwarded, address) => {
  expect(addressOf(peer, forwarded)).toBe(address);
});

it('the client is found behind a public proxy that is listed', () => {
  expect(addressOf('10.0.0.7', '203.0.113.9, 198.51.100.1')).toBe('198.51.100.1');
  expect(addressOf('10.0.0.7', '203.0.113.9, 198.51.100.1', ['198.51.100.0/24'])).toBe('203.0.113.9');
});
