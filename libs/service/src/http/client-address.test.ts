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
  [
    'the peer of the gateway, not what the client wrote',
    '10.0.0.7',
    '1.2.3.4, 203.0.113.9',
    '203.0.113.9',
  ],
  ['a client of the private network', '10.0.0.7', '192.168.1.5', '192.168.1.5'],
  [
    'a client with a private address, whatever it writes',
    '10.0.0.7',
    '1.2.3.4, 10.1.2.3',
    '10.1.2.3',
  ],
  [
    'a client on the machine of the gateway, whatever it writes',
    '127.0.0.1',
    '1.2.3.4, 127.0.0.1',
    '127.0.0.1',
  ],
  ['the gateway, when it does not name its peer', '10.0.0.7', undefined, '10.0.0.7'],
  ['an IPv4 address in IPv6 form', '::ffff:10.0.0.7', '::ffff:203.0.113.9', '203.0.113.9'],
  ['the network of an IPv6 address', '10.0.0.7', '2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['no address after the connection has closed', '', undefined, ''],
])('the client is %s', (_name, peer, forwarded, address) => {
  expect(addressOf(peer, forwarded)).toBe(address);
});

const ingress = '10.0.0.8';

it.each([
  ['a client behind the ingress', `203.0.113.9, ${ingress}`, '203.0.113.9'],
  ['a client with a private address behind it', `1.2.3.4, 10.1.2.3, ${ingress}`, '10.1.2.3'],
  ['a client on the machine of the ingress', `1.2.3.4, 127.0.0.1, ${ingress}`, '127.0.0.1'],
  ['an address with a port', `1.2.3.4, 203.0.113.12:40000, ${ingress}`, '203.0.113.12'],
  [
    'an IPv6 address with a port',
    `1.2.3.4, [2001:db8:1:2::9]:443, ${ingress}`,
    '2001:db8:1:2::/64',
  ],
  ['an IPv6 address in brackets', `1.2.3.4, [2001:db8:1:2::9], ${ingress}`, '2001:db8:1:2::/64'],
  [
    'an IPv6 address in quotes',
    `1.2.3.4, "[2001:DB8:1:2::9]:443", ${ingress}`,
    '2001:db8:1:2::/64',
  ],
  ['an IPv4 address in IPv6 form', `1.2.3.4, ::FFFF:203.0.113.12, ${ingress}`, '203.0.113.12'],
  [
    'one in hexadecimal and with a port',
    `1.2.3.4, [::ffff:cb00:710c]:1, ${ingress}`,
    '203.0.113.12',
  ],
  ['an address with a zone', `1.2.3.4, fe80::1%eth0, ${ingress}`, 'fe80::/64'],
  ['the ingress in IPv6 form', `203.0.113.9, ::ffff:${ingress}`, '203.0.113.9'],
  ['the ingress with a port', `203.0.113.9, ${ingress}:51234`, '203.0.113.9'],
])('%s is read', (_name, forwarded, address) => {
  expect(addressOf('10.0.0.7', forwarded, [ingress])).toBe(address);
});

it.each([
  'unknown',
  '_hidden',
  '',
  ' ',
  '203.0.113.9:',
  '203.0.113.9:x',
  '203.0.113.9:123456',
  '[203.0.113.9',
  '[]',
  '""',
  '1.2.3',
  '0x7f.1',
  '010.0.0.1',
  'for=203.0.113.9',
  '203.0.113.9 198.51.100.1',
  '%',
  ','.repeat(10_000),
])('the last address that can be read is used before text that is none (%#)', (text) => {
  expect(addressOf('10.0.0.7', `1.2.3.4, ${text}, ${ingress}`, [ingress])).toBe(ingress);
  expect(addressOf('10.0.0.7', `1.2.3.4, ${text}`, [ingress])).toBe('10.0.0.7');
});

it('the client is found behind a public proxy that is listed', () => {
  expect(addressOf('10.0.0.7', '203.0.113.9, 198.51.100.1')).toBe('198.51.100.1');
  expect(addressOf('10.0.0.7', '203.0.113.9, 198.51.100.1', ['198.51.100.0/24'])).toBe(
    '203.0.113.9',
  );
});

it('a gateway with a public address is believed when it is listed', () => {
  expect(addressOf('198.51.100.2', '203.0.113.9')).toBe('198.51.100.2');
  expect(addressOf('198.51.100.2', '203.0.113.9', ['198.51.100.2'])).toBe('203.0.113.9');
});

it('other headers with addresses are not believed', () => {
  const headers = { forwarded: 'for=1.2.3.4', 'x-real-ip': '1.2.3.4', 'x-client-ip': '1.2.3.4' };
  const request = { socket: { remoteAddress: '10.0.0.7' }, headers } as unknown as IncomingMessage;
  expect(createClientAddress([])(request)).toBe('10.0.0.7');
});
